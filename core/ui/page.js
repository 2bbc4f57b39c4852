// What Streamlit's page cannot be told from Python: loaded once by the HTML around it (core/ui/index_html.py).
(() => {
  const BOX = '[data-testid="stChatInputTextArea"]'

  // Esc leaves the list of an input method first. Only an Esc that nobody composes with stops an answer.
  // Safari ends the composition before it tells of the key: 229 is all that is left of it.
  window.addEventListener('keydown', event => {
    if (event.key === 'Escape' && (event.isComposing || event.keyCode === 229)) event.stopPropagation()
  }, true)

  // Who opens the page wants to type; on a phone the keyboard would cover what there is to read.
  const hasKeyboard = matchMedia('(hover: hover) and (pointer: fine)').matches
  let box = null
  const focusBox = () => {
    if (hasKeyboard && box && !document.querySelector('[role="dialog"]')) box.focus({ preventScroll: true })
  }
  const noticeBox = () => {
    const now = document.querySelector(BOX)
    if (now === box) return
    box = now
    if (!document.activeElement?.matches('input, textarea')) focusBox()
  }
  document.addEventListener('click', event => {
    if (event.target.closest('[class*="st-key-fill-"]')) focusBox()
  })

  // Where there is a keyboard, and room to name its keys.
  const KEYS = hasKeyboard && matchMedia('(min-width: 641px) and (min-height: 501px)').matches ? { '问一个问题': '问一个问题，Enter 发送，Shift+Enter 换行' } : {}
  const WORDS = {
    ...KEYS,
    'Add files': '选择文件',
    'App pages': '页面',
    'Clear caches': '清除缓存',
    'Click to retry upload': '点击重新上传',
    'Chat message from assistant': '回答',
    'Chat message from user': '提问',
    'Choose an option': '请选择',
    'Close': '关闭',
    'Close fullscreen': '退出全屏',
    'Collapse sidebar': '收起侧栏',
    'Copy to clipboard': '复制',
    'Copy version to clipboard': '复制版本号',
    'Dark': '深色',
    'Error: ': '',
    'Expand sidebar': '展开侧栏',
    'Failed to generate file for download': '现在不能下载，请刷新页面再试。文件可能已经删除，或者不再分享给你。',
    'Fullscreen': '全屏',
    'Light': '浅色',
    'Logo': '问源',
    'Made with Streamlit v': '基于 Streamlit v',
    'Main menu': '菜单',
    'Navigate to home page': '回到对话',
    'Open': '展开',
    'Print': '打印或存为 PDF',
    'Record screen': '录制屏幕',
    'Rerun': '重新运行',
    'Send message': '发送',
    'Sidebar': '侧栏',
    'Skip to main content': '跳到正文',
    'System': '系统',
    'Theme': '主题',
    'Upload failed': '上传失败',
    'Upload files': '附上文件',
    'file upload': '附上文件',
  }
  const translated = words => WORDS[words] ?? words
    .replace(/^Help for (.*?)(?: :gray\[.*\])?$/, '$1的说明')
    .replace(/ :gray\[(.*?)\]/g, '，$1')
    .replace(/^Remove (.+\.\w{1,8})$/, '移除 $1')
    .replace(/^Cancel upload of (.+)$/, '取消上传 $1')
    .replace(/^Upload or drag and drop files \((.+)\)$/, '附上文件，也可以拖到这里（$1）')
    .replace(/^File must be (.+) or smaller\.$/, '文件超过 $1，没有上传。')
    .replace(/^.+ files are not allowed\.$/, '不能上传这种文件。')

  const translateAttributes = element => {
    for (const name of ['aria-label', 'title', 'placeholder', 'alt']) {
      const words = element.getAttribute(name)
      if (words && translated(words) !== words) element.setAttribute(name, translated(words))
    }
  }
  const SENTENCES = {
    'Page not found': '没有这个页面',
    "The page that you have requested does not seem to exist. Running the app's main page.":
      '链接中的页面不存在，已经打开「对话」。',
  }
  // Texts only where they are Streamlit's own: an answer may say "Close".
  const OWN = [
    ['[data-testid="stMainMenuPopover"], [data-testid="stSkipToContent"]', translated],
    ['[data-testid^="stTooltip"], [data-testid="stFileChip"] [role="alert"], [data-testid="stDownloadButtonError"]', translated],
    ['[data-testid="stDialog"]', words => SENTENCES[words] ?? words],
  ]
  const translateTexts = (place, inChinese) => {
    const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
      const words = texts.currentNode.data
      if (inChinese(words) !== words) texts.currentNode.data = inChinese(words)
    }
  }
  // The page's own banner says it (style.css). The dialog would cover what there is to read.
  const closeConnectionError = added => {
    const title = added.querySelector('[role="dialog"] [slot="title"]')
    if (title?.textContent === 'Connection error') title.closest('[role="dialog"]').querySelector(':scope > button').click()
  }
  const translate = added => {
    const NAMED = '[aria-label], [title], [placeholder], [alt]'
    if (added.matches(NAMED)) translateAttributes(added)
    added.querySelectorAll(NAMED).forEach(translateAttributes)
    for (const [places, inChinese] of OWN) {
      if (added.closest(places)) translateTexts(added, inChinese)
      else added.querySelectorAll(places).forEach(place => translateTexts(place, inChinese))
    }
  }

  // A folder that is dragged: Streamlit asks each file for a path that browsers know of chosen folders only.
  const chosenPath = Object.getOwnPropertyDescriptor(File.prototype, 'webkitRelativePath').get
  const draggedPath = file => (file.relativePath ?? '').replace(/^[.]?[/]/, '')
  Object.defineProperty(File.prototype, 'webkitRelativePath', {
    configurable: true,
    get() {
      return chosenPath.call(this) || (draggedPath(this).includes('/') ? draggedPath(this) : '')
    },
  })

  new MutationObserver(changes => {
    for (const { type, target, addedNodes } of changes) {
      if (type === 'attributes') translateAttributes(target)
      for (const node of addedNodes) {
        if (node.nodeType !== Node.ELEMENT_NODE) continue
        closeConnectionError(node)
        translate(node)
      }
    }
    noticeBox()
  }).observe(document.documentElement, { subtree: true, childList: true, attributeFilter: ['aria-label'] })
})()
