"""Questions that have nothing to do with the program, and questions about it with the articles that answer them.

The rule by which the manual answers was chosen on the first, third, fifth … question; the others only measure it.
"""

from __future__ import annotations

OUTSIDE = """今天的新闻
最近有什么大新闻
黄金价格
今天油价
今年高考时间
今天几号
今天星期几
现在几点了
今天天气
明天上海会下雪吗
北京的呢
股市行情
美元汇率
房价会跌吗
苹果手机多少钱
世界杯什么时候开始
昨晚比赛结果
NBA 排名
梅西 年龄
刘德华 演唱会
特朗普
马斯克最近说了什么
劳动仲裁流程
离婚需要什么材料
酒驾怎么处罚
押金不退怎么办
交通违章查询
感冒吃什么药
头疼怎么办
医院挂号
失眠
高铁票怎么退
去三亚旅游多少钱
签证办理
附近的酒店
中考分数线
大学排名
考研报名时间
英语四级成绩查询
python 列表去重
java 多线程
git 回滚
mysql 连接超时
怎么写一个爬虫
电影推荐
今晚看什么
家常菜做法
减肥方法
快递查询
电话号码查询
翻译这句话
讲个笑话
写一首诗
手机卡顿怎么清理
weather today
latest news
bitcoin price
who is the richest man in the world
how to learn python
flight ticket price""".splitlines()

_ABOUT = """联网搜索的开关在哪儿 search-toggle
法条核验的标记怎么看 law-verify
怎么打开联网搜索 search-toggle
问源能做什么 what-is-wenyuan
怎么安装问源 quick-start
第一次用，该怎么提问 first-question
输入框里能用什么命令 slash-commands
Chat 和 Agent 选哪个好 choose-mode
问源有几个页面 pages-tour
能不能切换成深色主题 dark-mode-and-mobile
有哪些快捷键 dark-mode-and-mobile
追问的时候用什么词搜索 chat-mode
Agent 是怎么工作的 agent-mode,agent-steps
在哪里看 Agent 的思考过程 agent-steps
Agent 最多能循环几次 agent-limits,agent-loop
提示 Agent 在重复同样的操作 agent-loop
回答里的上标数字能点吗 citations
参考文献是谁列出来的 references
引用的编号怎么不见了 missing-citation
搜索记录在哪里看 search-ledger
能不能只搜新闻 search-types
搜索失败了还会回答吗 search-degraded,all-engines-failed
怎么中断正在写的回答 stop-answer
把回答导出成 Word answer-actions
对话太长它会忘记前面的吗 long-conversation
怎么找回删掉的对话 conversations
哪些搜索引擎是免费的 engines-overview,engine-searxng,engine-tavily-keyless,engine-ddgs
怎么调整搜索引擎的顺序 failover
为什么引擎在休息 resting-engines
怎么申请 Exa 的密钥 engine-exa
没有密钥可以用 Tavily 吗 engine-tavily-keyless
SearXNG 怎么搭建 searxng-setup,engine-searxng
SearXNG 出现 403 searxng-403
Chrome 搜谷歌要验证码 engine-google
没有网络的时候能查什么 engine-bundled,first-question
搜索超时了怎么办 search-timeout
缓存能不能关掉 search-cache
为什么要排队 rate-limit
只要中文结果 search-language
内置摘录模型能写文章吗 embedded-model
怎么连接自己的模型 configure-model
怎样接入 DeepSeek model-deepseek,configure-model
Ollama 本地模型怎么配置 model-ollama
token 的数量为什么是估算的 tokens
怎么改环境变量 settings-howto,settings-table
设置写错了程序会怎样 invalid-values
侧栏里能调什么 sidebar-panel,pages-tour
看板上的成功率是什么 dashboard
我的提问会发给谁 privacy
数据文件夹在哪里 data-dir
怎么加登录 login
在命令行里怎么提问 cli-ask,cli-overview
怎么部署到多台服务器 deploy-cluster,deploy-single
页面打不开 cannot-open
密钥被拒绝 401 model-auth-error,engine-perplexity,engine-serpapi
已读全文是什么意思 reading-pages
怎么分享对话给同事 sharing
上传合同让它读 attachments
how do I turn on web search search-toggle
where is my data stored data-dir,privacy,conversations""".splitlines()

ABOUT = {line.rpartition(" ")[0]: line.rpartition(" ")[2].split(",") for line in _ABOUT}
"""Question → slugs of the articles that answer it."""
