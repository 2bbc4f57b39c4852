"""Ways to hide words from the readers of a page: what nobody sees is not read, and what everybody sees is.

Each way was looked at in Chromium: nobody sees the words of the first kind, everybody those of the second.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.base.http import Deadline
from core.reading import Page, Reader, ReadingSettings
from support import web_pages as pages
from support.web import Web, web

__all__ = ["web"]

HTML = "Content-Type: text/html"
WORDS = "东岸的新水厂还会为附近的五所学校供水，这是今年新增加的安排，家长们对此表示欢迎。"
"""Stand where the ways below have {}."""


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    reader = Reader(ReadingSettings())
    yield reader
    reader.close()


def read(reader: Reader, web: Web, markup: str) -> str:
    body = pages.page(f"<article>{pages.paragraphs(*pages.STORY)}{markup.replace('{}', WORDS)}</article>")
    (found,) = reader.read_all([web.page("a.example/", body.encode(), HTML)], deadline=Deadline(60))
    assert isinstance(found, Page)
    assert pages.STORY[4] in found.text
    return found.text


UNSEEN = {
    "z-index under a cover": '<div style="position:relative"><p>{}</p><div style="position:absolute;inset:0;background:#fff;z-index:9"></div></div>',
    "negative z-index under the block": '<div style="background:#fff;position:relative;z-index:0"><div style="background:#fff"><p style="position:relative;z-index:-1">{}</p></div></div>',
    "var display": '<p style="--d:none;display:var(--d)">{}</p>',
    "root var": '<style>:root{--d:none}.z{display:var(--d)}</style><p class="z">{}</p>',
    "var chain": '<style>:root{--a:var(--b);--b:none}.z{display:var(--a)}</style><p class="z">{}</p>',
    "var inherited colour": '<style>article{--c:#fff}.z{color:var(--c)}</style><p class="z">{}</p>',
    "var of part": '<style>:root{--n:0}.z{color:rgba(0,0,0,var(--n))}</style><p class="z">{}</p>',
    "var in font": '<style>:root{--s:1px}.z{font:var(--s)/1 serif}</style><p class="z">{}</p>',
    "var overridden nearer": '<style>:root{--d:block}div.q{--d:none}.z{display:var(--d)}</style><div class="q"><p class="z">{}</p></div>',
    "var case": '<style>:root{--D:none;--d:block}.z{display:var(--D)}</style><p class="z">{}</p>',
    "var undefined becomes inherit": '<style>.q{color:#fff}.z{color:red;color:var(--nope)}</style><div class="q"><p class="z">{}</p></div>',
    "property initial": "<style>@property --w{syntax:'<color>';inherits:true;initial-value:white}.z{color:var(--w)}</style><p class=\"z\">{}</p>",
    "var space toggle": '<style>:root{--off: }.z{opacity:var(--off) 0}</style><p class="z">{}</p>',
    "var fallback nested": '<style>.z{opacity:var(--x,var(--y,0))}</style><p class="z">{}</p>',
    "env": '<p style="opacity:env(nope,0)">{}</p>',
    "attr": '<p style="color:attr(nope type(<color>),white)">{}</p>',
    "calc opacity": '<p style="opacity:calc(1 - 1)">{}</p>',
    "calc font": '<p style="font-size:calc(16px / 16)">{}</p>',
    "clamp font": '<p style="font-size:clamp(0px,1px,2px)">{}</p>',
    "calc rgb": '<p style="color:rgb(calc(250 + 5) 255 255)">{}</p>',
    "calc nested": '<p style="text-indent:calc(0px - (100px * (5 + 5)))">{}</p>',
    "layer order": '<style>@layer a,b;@layer b{.z{display:none}}@layer a{.z{display:block}}</style><p class="z">{}</p>',
    "layer loses to unlayered": '<style>.z{display:none}@layer a{p.z{display:block}}</style><p class="z">{}</p>',
    "layer important reversed": '<style>@layer a{.z{display:none!important}}.z{display:block!important}</style><p class="z">{}</p>',
    "container": '<style>article{container-type:inline-size}@container (min-width:1px){.z{display:none}}</style><p class="z">{}</p>',
    "container named": '<style>article{container:n/inline-size}@container n (width>1px){.z{display:none}}</style><p class="z">{}</p>',
    "style container": '<style>article{--t:1}@container style(--t:1){.z{display:none}}</style><p class="z">{}</p>',
    "nested in list": '<style>article,main{.z,.y{display:none}}</style><p class="z">{}</p>',
    "media range two": '<style>@media (100px <= width <= 9000px){.z{display:none}}</style><p class="z">{}</p>',
    "media not print": '<style>@media not print{.z{display:none}}</style><p class="z">{}</p>',
    "media hover": '<style>@media (hover:hover){.z{display:none}}</style><p class="z">{}</p>',
    "media prefers": '<style>@media (prefers-color-scheme:light){.z{display:none}}</style><p class="z">{}</p>',
    "media height": '<style>@media (min-height:10px){.z{display:none}}</style><p class="z">{}</p>',
    "media or": '<style>@media (orientation:landscape) or (color){.z{display:none}}</style><p class="z">{}</p>',
    "media not parens": '<style>@media not (max-width:1px){.z{display:none}}</style><p class="z">{}</p>',
    "media resolution": '<style>@media (min-resolution:1dppx){.z{display:none}}</style><p class="z">{}</p>',
    "media aspect": '<style>@media (min-aspect-ratio:1/1){.z{display:none}}</style><p class="z">{}</p>',
    "media pointer": '<style>@media (pointer:fine) and (any-hover:hover){.z{display:none}}</style><p class="z">{}</p>',
    "not": '<style>p:not(.y).z{display:none}</style><p class="z">{}</p>',
    "nth-child exact": '<style>.w>:nth-child(2){display:none}</style><div class="w"><script></script><p>{}</p></div>',
    "after a script": "<style>script+p{display:none}</style><script></script><p>{}</p>",
    "after a style": "<style>style+p{display:none}</style><p>{}</p>",
    "after a hidden one": "<style>[hidden]~p{display:none}</style><div><i hidden></i><p>{}</p></div>",
    "has hidden": "<style>div:has(script){display:none}</style><div><script></script><p>{}</p></div>",
    "defined": '<style>.z:defined{display:none}</style><p class="z">{}</p>',
    "dir": '<style>.z:dir(ltr){display:none}</style><p class="z">{}</p>',
    "not popover": '<style>.z:not(:popover-open){display:none}</style><p class="z">{}</p>',
    "not open": '<style>.z:not(:open){display:none}</style><p class="z">{}</p>',
    "placeholder": '<style>input:placeholder-shown~.z{display:none}</style><div><input placeholder=x><p class="z">{}</p></div>',
    "attribute namespace": '<style>[*|class]{display:none}</style><div><p class="z">{}</p></div>',
    "escaped class 2": '<style>.a\\:b{display:none}</style><p class="a:b">{}</p>',
    "cdo": '<style><!-- .z{display:none} --></style><p class="z">{}</p>',
    "twice": '<style>.z{display:none}.z{display:bogus}</style><p class="z">{}</p>',
    "twice opacity": '<style>.z{opacity:0}.z{opacity:bogus}</style><p class="z">{}</p>',
    "twice colour": '<style>.z{color:#fff}.z{color:bogus}</style><p class="z">{}</p>',
    "style in template does not count": '<style>.z{display:none}</style><template><style>.z{display:block}</style></template><p class="z">{}</p>',
    "colour initial on black": '<div style="background:#000;color:#fff"><p style="color:initial">{}</p></div>',
    "colour all initial on black": '<div style="background:#000;color:#fff"><p style="all:initial;display:block">{}</p></div>',
    "currentcolor background": '<p style="background:currentcolor">{}</p>',
    "currentcolor of parent": '<div style="color:#777;background-color:currentcolor"><p>{}</p></div>',
    "invalid font-size": '<div style="font-size:1px"><p style="font-size:bogus">{}</p></div>',
    "background-color after shorthand": '<p style="background-color:#000;background:none;color:#fff">{}</p>',
    "overflow and opacity inherit": '<div style="opacity:.2"><p style="opacity:inherit">{}</p></div>',
    "product of opacities": '<div style="opacity:.2"><div style="opacity:.2"><p style="opacity:.2">{}</p></div></div>',
    "opacity times alpha": '<div style="opacity:.15"><p style="color:rgba(0,0,0,.15)">{}</p></div>',
    "opacity exponent": '<p style="opacity:1e-3">{}</p>',
    "opacity negative": '<p style="opacity:-1">{}</p>',
    "color-mix": '<p style="color:color-mix(in srgb,white,white)">{}</p>',
    "color-mix transparent": '<p style="color:color-mix(in srgb,transparent 100%,black 0%)">{}</p>',
    "lab": '<p style="color:lab(100% 0 0)">{}</p>',
    "oklch": '<p style="color:oklch(1 0 0)">{}</p>',
    "color p3": '<p style="color:color(display-p3 1 1 1)">{}</p>',
    "relative colour": '<p style="color:rgb(from white r g b)">{}</p>',
    "relative alpha": '<p style="color:rgb(from black r g b / 0)">{}</p>',
    "light-dark": '<p style="color:light-dark(white,black)">{}</p>',
    "system colour": '<p style="color:Canvas">{}</p>',
    "fill inherited": '<div style="-webkit-text-fill-color:#fff"><p style="color:#000">{}</p></div>',
    "bgcolor bare": '<table bgcolor="ccddee"><tr><td><font color="ccddee">{}</font></table>',
    "half-transparent background": '<div style="background:rgba(0,0,0,.3)"><p style="color:#b3b3b3">{}</p></div>',
    "background gradient of one colour": '<p style="background:linear-gradient(#000,#000);color:#000">{}</p>',
    "mark tag on yellow": '<p><mark style="color:#ff0">{}</mark></p>',
    "first-line": '<style>.z::first-line{color:#fff}</style><p class="z">{}</p>',
    "first-line tiny": '<style>.z::first-line{font-size:0}</style><p class="z">{}</p>',
    "filter invert": '<p style="filter:invert(1)">{}</p>',
    "filter svg": '<svg width=0 height=0><filter id=f><feFlood flood-opacity=0 /></filter></svg><p style="filter:url(#f)">{}</p>',
    "backdrop cover": '<div style="position:relative"><p>{}</p><div style="position:absolute;inset:0;backdrop-filter:blur(30px)"></div></div>',
    "top 100vh fixed": '<p style="position:fixed;top:100vh">{}</p>',
    "left 100% fixed": '<p style="position:fixed;left:100%">{}</p>',
    "inset-block": '<p style="position:absolute;inset-block-start:-9999px">{}</p>',
    "inset inline pair": '<p style="position:absolute;inset-inline:-9999px auto">{}</p>',
    "margin-inline": '<p style="margin-inline:-9999px 0;width:100px">{}</p>',
    "matrix": '<p style="transform:matrix(1,0,0,1,-9999,0)">{}</p>',
    "matrix3d": '<p style="transform:matrix3d(0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1)">{}</p>',
    "scale tiny": '<p style="transform:scale(.01)">{}</p>',
    "scale property tiny": '<p style="scale:.02">{}</p>',
    "rotateX turn": '<p style="transform:rotateX(.25turn)">{}</p>',
    "rotate property": '<p style="rotate:y 90deg">{}</p>',
    "rotate3d": '<p style="transform:rotate3d(1,0,0,90deg)">{}</p>',
    "skew": '<p style="transform:skewX(90deg)">{}</p>',
    "offset path": "<p style=\"offset-path:path('M-5000 0h1');offset-distance:0\">{}</p>",
    "height 0 auto": '<p style="height:0;overflow:auto">{}</p>',
    "height 0 contain": '<p style="height:0;contain:paint">{}</p>',
    "height 0 contain strict": '<p style="contain:strict">{}</p>',
    "contain size paint": '<p style="contain:size paint">{}</p>',
    "clip rect 5px": '<p style="position:absolute;clip:rect(5px,5px,5px,5px)">{}</p>',
    "clip rect auto": '<p style="position:absolute;clip:rect(auto,0,auto,0)">{}</p>',
    "clip-path inset 100px": '<p style="height:50px;clip-path:inset(100px)">{}</p>',
    "clip-path circle far": '<p style="clip-path:circle(10px at -500px -500px)">{}</p>',
    "clip-path ellipse 2": '<p style="clip-path:ellipse(50% 0)">{}</p>',
    "clip-path polygon off": '<p style="clip-path:polygon(-900px -900px,-800px -900px,-800px -800px)">{}</p>',
    "clip-path path z": "<p style=\"clip-path:path('M0 0L0 0Z')\">{}</p>",
    "clip-path xywh": '<p style="clip-path:xywh(0 0 0 0)">{}</p>',
    "clip-path rect": '<p style="clip-path:rect(0 0 0 0)">{}</p>',
    "clip-path url": '<svg width=0 height=0><clipPath id=c></clipPath></svg><p style="clip-path:url(#c)">{}</p>',
    "mask gradient #0000": '<p style="mask-image:linear-gradient(#0000,#0000)">{}</p>',
    "mask gradient space rgb": '<p style="mask-image:linear-gradient(rgb(0 0 0/0),rgb(0 0 0/0))">{}</p>',
    "mask size 0": '<p style="mask:linear-gradient(#000,#000);mask-size:0 0;mask-repeat:no-repeat">{}</p>',
    "mask shorthand size 0": '<p style="mask:linear-gradient(#000,#000) 0 0/0 0 no-repeat">{}</p>',
    "mask luminance": '<p style="mask:linear-gradient(#000,#000);mask-mode:luminance">{}</p>',
    "mask url empty": '<p style="mask-image:url(data:image/gif;base64,R0lGODlhAQAB)">{}</p>',
    "mask url missing": '<p style="mask-image:url(data:,)">{}</p>',
    "font italic var": "<p style=\"font:italic normal 700 condensed .5px/2 'a b',serif\">{}</p>",
    "root font": '<style>html{font-size:1px}article>*{font-size:16px}.z{font-size:1rem!important}</style><p class="z">{}</p>',
    "text-security": '<p style="-webkit-text-security:disc">{}</p>',
    "content img": '<p><span style="content:url(data:image/gif;base64,R0lGODlhAQAB)">{}</span></p>',
    "table column": '<div style="display:table-column">{}</div>',
    "table column group": '<div style="display:table-column-group"><div>{}</div></div>',
    "animation": '<style>@keyframes k{to{opacity:0}}.z{animation:k 0s forwards}</style><p class="z">{}</p>',
    "animation from": '<style>@keyframes k{from,to{opacity:0}}.z{animation:k 1s infinite}</style><p class="z">{}</p>',
    "animation display": '<style>@keyframes k{to{visibility:hidden}}.z{animation:k 1ms both}</style><p class="z">{}</p>',
    "starting paused": '<style>@keyframes k{from{opacity:0}}.z{animation:k 1s paused}</style><p class="z">{}</p>',
    "popover": "<div popover>{}</div>",
    "shadow": "<div><template shadowrootmode=open><p>x</p></template>{}</div>",
    "shadow named slot": "<div><template shadowrootmode=open><slot name=a></slot></template><p>{}</p></div>",
    "shadow style": "<div><template shadowrootmode=open><style>:host{display:none}</style><slot></slot></template><p>{}</p></div>",
    "shadow slotted style": "<div><template shadowrootmode=open><style>::slotted(*){display:none}</style><slot></slot></template><p>{}</p></div>",
    "details without summary visible": '<details><summary style="display:none">x</summary><p>{}</p></details>',
    "details summary css": "<style>summary{visibility:hidden}</style><details><summary>x</summary><p>{}</p></details>",
    "details pointer": '<details><summary style="opacity:0">x</summary><p>{}</p></details>',
    "cover absolute sibling size": '<div style="position:relative;height:40px"><p style="margin:0">{}</p><img style="position:absolute;left:0;top:0;width:100%;height:100%;background:#fff"></div>',
    "cover after": '<style>.z{position:relative}.z::after{content:"";position:absolute;inset:0;background:#fff}</style><p class="z">{}</p>',
    "cover before": '<style>.w{position:relative}.w::before{content:"";position:absolute;left:0;top:0;right:0;bottom:0;background:#fff;z-index:2}</style><div class="w"><p>{}</p></div>',
    "cover with story": '<div style="position:relative"><p>{}</p><div style="position:absolute;top:0;left:0;width:100%;height:100%;background:#fff">看得见的话</div></div>',
    "text under the page, z -1": '<div style="position:relative;z-index:0"><p style="position:absolute;z-index:-1">{}</p><div style="background:#fff;height:60px">看得见</div></div>',
    "text under bg, body": '<style>article{background:#fff}</style><p style="position:relative;z-index:-1">{}</p>',
    "font via custom shorthand": '<style>:root{--f:0/0 serif}.z{font:var(--f)}</style><p class="z">{}</p>',
    "text fill via var": '<style>:root{--t:transparent}.z{-webkit-text-fill-color:var(--t)}</style><p class="z">{}</p>',
    "overflow inset cqw": '<p style="position:absolute;left:-300cqw">{}</p>',
    "Q unit": '<p style="font-size:1Q">{}</p>',
    "scale calc": '<p style="transform:scale(calc(1 - 1))">{}</p>',
    "stray semicolon": '<style>.z{display:none};.z{display:block}</style><p class="z">{}</p>',
    "stray brace": '<style>.z{display:none}}.z{display:block}</style><p class="z">{}</p>',
    "open paren": '<style>.z{display:none}(a{}.z{display:block}</style><p class="z">{}</p>',
    "open bracket": '<style>.z{display:none}[a{}.z{display:block}</style><p class="z">{}</p>',
    "paren in body": '<style>.z{display:none;a:(}.z{display:block}</style><p class="z">{}</p>',
    "unknown pseudo in a list": '<style>.z{display:none}.z,.q:bogus{display:block}</style><p class="z">{}</p>',
    "unknown element in a list": '<style>.z{display:none}.z,.q::bogus{display:block}</style><p class="z">{}</p>',
    "two opacities": '<style>.z{opacity:0}.z{opacity:1 1}</style><p class="z">{}</p>',
    "two sizes": '<style>.z{font-size:0}.z{font-size:16px 16px}</style><p class="z">{}</p>',
    "unknown unit": '<style>.z{font-size:0}.z{font-size:16bogus}</style><p class="z">{}</p>',
    "no unit": '<style>.z{font-size:0}.z{font-size:16}</style><p class="z">{}</p>',
    "importantx": '<style>.z{display:none}.z{display:block !importantx}</style><p class="z">{}</p>',
    "alternate sheet": '<style>.z{display:none}</style><style title=a></style><style title=b>.z{display:block}</style><p class="z">{}</p>',
    "top ampersand": '<style>& .z{display:none}</style><p class="z">{}</p>',
    "unknown support": '<style>.z{display:none}@supports (bogus:1){.z{display:block}}</style><p class="z">{}</p>',
    "webkit any": '<style>:-webkit-any(.z){display:none}</style><p class="z">{}</p>',
    "calc in medium": '<style>@media (min-width:calc(1px + 1px)){.z{display:none}}</style><p class="z">{}</p>',
    "has focus": '<style>:has(:focus){color:red}.z{display:none}</style><p class="z">{}</p>',
    "var in important": '<style>:root{--d:none!important}:root{--d:block}.z{display:var(--d)}</style><p class="z">{}</p>',
    "inherit var": '<style>article{--d:none}.z{--d:inherit;display:var(--d)}</style><p class="z">{}</p>',
    "initial var": '<style>:root{--d:block}.z{--d:initial;display:var(--d,none)}</style><p class="z">{}</p>',
    "cyclic var": '<style>.z{--a:var(--b);--b:var(--a);display:var(--a,none)}</style><p class="z">{}</p>',
    "layer unlayered important": '<style>@layer a{.z{display:none!important}}.z{display:block!important}</style><p class="z">{}</p>',
    "revert layer": '<style>.z{display:none}@layer a{.z{display:block}}</style><p class="z">{}</p>',
    "is specificity": '<style>:is(#no,.z){display:none}article p.z{display:block}</style><p class="z">{}</p>',
    "color scheme": '<style>:root{color-scheme:light}.z{color:light-dark(#fff,#000)}</style><p class="z">{}</p>',
    "zero by division": '<style>.z{opacity:calc(0 / 5)}</style><p class="z">{}</p>',
    "nested product of scales": '<div style="transform:scale(.4)"><div style="transform:scale(.4)"><p style="transform:scale(.4)">{}</p></div></div>',
    "alpha of background over": '<div style="background:rgba(0,0,0,.5)"><div style="background:rgba(0,0,0,.5)"><p style="color:rgb(64,64,64)">{}</p></div></div>',
    "tabindex data state": '<style>.tab:not(.active){display:none}</style><div class="tab">{}</div>',
    "calc height": '<style>.k0{height:calc(0px);overflow:hidden}</style><p class="k0">{}</p>',
    "visibility unset": '<style>.k0{visibility:hidden}.k1{visibility:unset}</style><div class="k0"><p class="k1">{}</p></div>',
    "visibility revert": '<style>.k0{visibility:hidden}.k1{visibility:revert}</style><div class="k0"><p class="k1">{}</p></div>',
    "text-indent + overflow": '<style>.k0{text-indent:100%;white-space:nowrap;overflow:hidden;width:100px}</style><p class="k0">{}</p>',
    "padding-top overflow": '<style>.k0{padding-top:50px;height:50px;overflow:hidden;box-sizing:border-box}</style><p class="k0">{}</p>',
    "backface": '<style>.k0{transform:rotateY(180deg);backface-visibility:hidden}</style><p class="k0">{}</p>',
    "block-size 0": '<style>.k0{block-size:0;overflow:hidden}</style><p class="k0">{}</p>',
    "inline-size 0": '<style>.k0{inline-size:0;overflow:hidden}</style><p class="k0">{}</p>',
    "max-block-size 0": '<style>.k0{max-block-size:0;overflow:hidden}</style><p class="k0">{}</p>',
    "height 2px": '<style>.k0{height:2px;overflow:hidden}</style><p class="k0">{}</p>',
    "aspect ratio": '<style>.k0{aspect-ratio:9999/1;overflow:hidden;width:100px;contain:size}</style><p class="k0">{}</p>',
    "flex 0": '<style>.k0{display:flex}.k1{flex:0 0 0;min-width:0;overflow:hidden;white-space:nowrap}</style><div class="k0"><p class="k1">{}</p></div>',
    "flex-basis 0": '<style>.k0{display:flex}.k1{flex-basis:0;overflow:hidden}</style><div class="k0"><p class="k1">{}</p></div>',
    "grid 0fr": '<style>.k0{display:grid;grid-template-rows:0fr}.k1{overflow:hidden;margin:0}</style><div class="k0"><p class="k1">{}</p></div>',
    "grid 0px": '<style>.k0{display:grid;grid-template-columns:0px}.k1{overflow:hidden;white-space:nowrap}</style><div class="k0"><p class="k1">{}</p></div>',
    "display: none block": '<style>.k0{display:none none}.k1{display:none;display:block flow-root bogus}</style><p class="k0">x</p><p class="k1">{}</p>',
    "a colour that is none": '<style>.z{color:#fff}.z{color:bogus(1)}</style><p class="z">{}</p>',
    "nothing of the current colour": '<p style="color:color-mix(in srgb,currentcolor 0%,#fff)">{}</p>',
    "a sheet in an address": '<link rel="stylesheet" href="data:text/css,.z%7Bdisplay:none%7D"><p class="z">{}</p>',
    "a sheet in an address, encoded": '<link rel="stylesheet" href="data:text/css;base64,Lnp7ZGlzcGxheTpub25lfQ=="><p class="z">{}</p>',
}
SEEN = {
    "a part of a row with its own width": '<div style="display:flex"><div style="flex:0 0 auto;overflow:hidden"><p>{}</p></div></div>',
    "closed... open details": "<details open><summary>x</summary><p>{}</p></details>",
    "white on black": '<div style="background:#000"><p style="color:#fff">{}</p></div>',
    "white on var black": '<style>:root{--bg:#000}.d{background:var(--bg);color:#fff}</style><div class="d"><p>{}</p></div>',
    "white on gradient": '<div style="background:linear-gradient(#000,#333)"><p style="color:#fff">{}</p></div>',
    "white on image": '<div style="background:url(data:image/gif;base64,R0lGODlhAQAB) #000"><p style="color:#fff">{}</p></div>',
    "var light theme": "<style>:root{--fg:#111;--bg:#fff}html.dark{--fg:#fff}body{background:var(--bg);color:var(--fg)}</style><p>{}</p>",
    "var dark theme by media": "<style>:root{--fg:#111;--bg:#fff}@media (prefers-color-scheme:dark){:root{--fg:#fff;--bg:#000}}body{background:var(--bg);color:var(--fg)}</style><p>{}</p>",
    "tailwind opacity": '<style>.t{--tw-text-opacity:1;color:rgba(17,24,39,var(--tw-text-opacity))}</style><p class="t">{}</p>',
    "tailwind slash": '<style>.t{--o:1;color:rgb(17 24 39/var(--o,1))}</style><p class="t">{}</p>',
    "tailwind transform": '<style>*{--tx:0;--ty:0;--sx:1;--sy:1}.t{transform:translate(var(--tx),var(--ty)) scaleX(var(--sx)) scaleY(var(--sy))}</style><p class="t">{}</p>',
    "unset var": '<style>.t{color:var(--nope)}</style><p class="t">{}</p>',
    "calc font": '<p style="font-size:calc(14px + .2vw)">{}</p>',
    "clamp font": '<p style="font-size:clamp(1rem,2vw,3rem)">{}</p>',
    "rem 62.5%": "<style>html{font-size:62.5%}p{font-size:1.6rem}</style><p>{}</p>",
    "rem by html 10px": '<style>html{font-size:10px}.t{font-size:.8rem}</style><p class="t">{}</p>',
    "rem by html 100px": '<style>html{font-size:100px}.t{font-size:.16rem}</style><p class="t">{}</p>',
    "rem by vw": '<style>html{font-size:7.8125vw}.t{font-size:.16rem}</style><p class="t">{}</p>',
    "em in big": '<div style="font-size:100px"><p style="font-size:.2em">{}</p></div>',
    "layered shown": '<style>@layer base{.t{display:none}}.t{display:block}</style><p class="t">{}</p>',
    "layer order shown": '<style>@layer a,b;@layer b{.t{display:block}}@layer a{.t{display:none}}</style><p class="t">{}</p>',
    "supports not": '<style>@supports not (display:grid){.t{display:none}}</style><p class="t">{}</p>',
    "print": '<style>@media print{.t{display:none}}</style><p class="t">{}</p>',
    "small screens": '<style>@media (max-width:600px){.t{display:none}}</style><p class="t">{}</p>',
    "small screens range": '<style>@media (width<600px){.t{display:none}}</style><p class="t">{}</p>',
    "dark": '<style>@media (prefers-color-scheme:dark){.t{color:#fff}}</style><p class="t">{}</p>',
    "touch": '<style>@media (hover:none){.t{display:none}}</style><p class="t">{}</p>',
    "container too wide": '<style>article{container-type:inline-size}@container (min-width:9000px){.t{display:none}}</style><p class="t">{}</p>',
    "hover": '<style>.t:hover{display:none}</style><p class="t">{}</p>',
    "invalid later": '<style>.t{display:block}.t{display:none bogus}</style><p class="t">{}</p>',
    "invalid opacity": '<p style="opacity:0px">{}</p>',
    "colour bogus": '<p style="color:whitee">{}</p>',
    "inherit visible": '<div style="visibility:hidden"><p style="visibility:visible">{}</p></div>',
    "all initial": '<div style="visibility:hidden;color:#fff"><p style="all:initial">{}</p></div>',
    "colour back": '<div style="color:#fff"><p style="color:initial">{}</p></div>',
    "opacities": '<div style="opacity:.8"><p style="opacity:.7;color:rgba(0,0,0,.6)">{}</p></div>',
    "height 0 without overflow": '<div style="height:0">{}</div><br>',
    "negative margin columns": '<div style="overflow:hidden"><div style="margin-bottom:-9999px;padding-bottom:9999px">{}</div></div>',
    "centred": '<div style="position:relative;height:90px"><div style="position:absolute;left:50%;top:50%;transform:translate(-50%,-50%)">{}</div></div>',
    "bleed": '<div style="width:100vw;margin-left:calc(50% - 50vw)"><p style="padding:0 20px">{}</p></div>',
    "hanging": '<p style="text-indent:-2em;padding-left:2em">{}</p>',
    "small print": '<p style="font-size:9px">{}</p>',
    "grey": '<p style="color:#999">{}</p>',
    "light grey": '<p style="color:#ccc">{}</p>',
    "grey on grey": '<div style="background:#eee"><p style="color:#aaa">{}</p></div>',
    "half-transparent dark overlay": '<div style="background:#000"><div style="background:rgba(255,255,255,.1)"><p style="color:#fff">{}</p></div></div>',
    "white on half black": '<div style="background:rgba(0,0,0,.6)"><p style="color:#fff">{}</p></div>',
    "gradient text": '<p style="background:linear-gradient(#f00,#00f);-webkit-background-clip:text;color:transparent">{}</p>',
    "fill dark": '<p style="color:#fff;-webkit-text-fill-color:#000">{}</p>',
    "clip-path normal": '<p style="clip-path:inset(0)">{}</p>',
    "clip-path rounded": '<p style="clip-path:inset(0 0 0 0 round 10px)">{}</p>',
    "clip-path circle": '<p style="clip-path:circle(50%)">{}</p>',
    "polygon whole": '<p style="clip-path:polygon(0 0,100% 0,100% 100%,0 100%)">{}</p>',
    "mask fade": '<p style="mask-image:linear-gradient(to bottom,black 60%,transparent)">{}</p>',
    "filter": '<p style="filter:grayscale(1) brightness(.9)">{}</p>',
    "nested ul font 0": '<ul style="font-size:0"><li style="font-size:14px">{}</li></ul>',
    "line-height 1": '<p style="line-height:1;overflow:hidden">{}</p>',
    "max-height none": '<div style="max-height:none;overflow:hidden">{}</div>',
    "height 100%": '<div style="height:100%;overflow:hidden">{}</div>',
    "width 1% cell": '<table><tr><td style="width:1%;overflow:hidden;white-space:nowrap">{}</table>',
    "width 0 min 100": '<div style="width:0;min-width:100%;overflow:hidden">{}</div>',
    "height 0 min-height": '<div style="height:0;min-height:40px;overflow:hidden">{}</div>',
    "height 1px padding": '<div style="height:0;padding-bottom:60px;overflow:hidden">{}</div>',
    "slot": "<div><template shadowrootmode=open><slot></slot></template><p>{}</p></div>",
    "tooltip cover elsewhere": '<div style="position:relative"><p>{}</p><div style="position:absolute;top:200px;left:0;background:#fff">x</div></div>',
    "cover clear after": '<style>.t{position:relative}.t::after{content:"";position:absolute;inset:0}</style><p class="t">{}</p>',
    "cover gradient fade": '<div style="position:relative;height:80px"><p>{}</p><div style="position:absolute;left:0;right:0;bottom:0;height:30px;background:linear-gradient(transparent,#fff)"></div></div>',
    "cover below text": '<style>.t{position:relative;z-index:0}.t::before{content:"";position:absolute;inset:0;background:#eee;z-index:-1}</style><p class="t">{}</p>',
    "cover hidden": '<div style="position:relative"><p>{}</p><div style="position:absolute;inset:0;background:#fff;display:none">x</div></div>',
    "z -1 alone": '<p style="position:relative;z-index:-1">{}</p>',
    "noscript style": '<noscript><style>.t{display:none}</style></noscript><p class="t">{}</p>',
    "template style": '<template><style>.t{display:none}</style></template><p class="t">{}</p>',
    "animation in": '<style>@keyframes k{from{opacity:0}to{opacity:1}}.t{animation:k 1ms both}</style><p class="t">{}</p>',
    "animation entrance from 0": '<style>@keyframes k{to{opacity:1}}.t{opacity:0;animation:k 1ms forwards}</style><p class="t">{}</p>',
    "fill mode none": '<style>@keyframes k{to{opacity:0}}.t{animation:k 1ms}</style><p class="t">{}</p>',
    "misnested": '<p><b style="display:none">x</b></p><p>{}</p>',
    "table attr width": "<table width=1><tr><td>{}</table>",
    "scrolled box": '<div style="height:50px;overflow:auto"><p>{}</p></div>',
    "background then image none": '<div style="background:#000"><p style="background-image:none;color:#fff">{}</p></div>',
    "inert": "<p inert>{}</p>",
    "selection": "<style>::selection{color:#fff}p::first-letter{color:#fff}</style><p>{}</p>",
    "scope limit": '<style>@scope (article) to (.w){.t{display:none}}</style><div class="w"><p class="t">{}</p></div>',
    "keyframes names": '<style>@keyframes k{.t{display:none}}</style><p class="t">{}</p>',
    "font-face": "<style>@font-face{font-size:0}</style><p>{}</p>",
    "nested not matching": '<style>.none{.t{display:none}}</style><p class="t">{}</p>',
    "media not screen": '<style>@media not screen{.t{display:none}}</style><p class="t">{}</p>',
    "amp alone": '<style>.none &{.t{display:none}}</style><p class="t">{}</p>',
    "sheet disabled": '<style media="nope">.t{display:none}</style><p class="t">{}</p>',
    "style type other": '<style type="text/less">.t{display:none}</style><p class="t">{}</p>',
    "noise in style": '<p style="display:none-ish">{}</p>',
    "revert": '<style>.t{display:none}</style><div class="t" style="display:revert">{}</div>',
    "vertical": '<p style="writing-mode:vertical-rl;height:9em">{}</p>',
    "right 5000 in static": '<p style="margin-right:-50px">{}</p>',
    "first-line": '<style>.z::first-line{color:#f00}</style><p class="z">{}</p>',
    "visibility hidden then details": '<p style="text-indent:0">{}</p>',
    "layered revert": '<style>@layer a{.z{display:none}}.z{display:block}</style><p class="z">{}</p>',
    "unknown support hides": '<style>@supports (-ms-ime-align:auto){.z{display:none}}</style><p class="z">{}</p>',
    "moz": '<style>@supports (-moz-appearance:none){.z{display:none}}@-moz-document url-prefix(){.z{display:none}}</style><p class="z">{}</p>',
    "old ie hack": '<style>.z{*display:none;_display:none;display:block\\9}</style><p class="z">{}</p>',
    "bad list": '<style>.z,.q:bogus{display:none}</style><p class="z">{}</p>',
    "unitless width": '<p style="width:500;overflow:hidden">{}</p>',
    "var none unused": '<style>:root{--d:none}.y{display:var(--d)}</style><p class="z">{}</p>',
    "dark theme class": '<style>.dark{--bg:#111;--fg:#eee}:root{--bg:#fff;--fg:#222}.c{background:var(--bg);color:var(--fg)}</style><div class="dark"><div class="c"><p>{}</p></div></div>',
    "oklch theme": "<style>:root{--background:oklch(1 0 0);--foreground:oklch(.145 0 0)}body{background:var(--background);color:var(--foreground)}</style><p>{}</p>",
    "hsl var theme": "<style>:root{--background:0 0% 100%;--foreground:222 47% 11%}body{background:hsl(var(--background));color:hsl(var(--foreground))}</style><p>{}</p>",
    "color-mix text": '<style>.z{color:color-mix(in oklab,currentColor 70%,transparent)}</style><p class="z">{}</p>',
    "ellipsis": '<p style="overflow:hidden;text-overflow:ellipsis;white-space:nowrap;max-width:300px">{}</p>',
    "line clamp": '<p style="display:-webkit-box;-webkit-line-clamp:3;-webkit-box-orient:vertical;overflow:hidden">{}</p>',
    "flex col": '<div style="display:flex"><div style="flex:1 1 0;min-width:0;overflow:hidden"><p>{}</p></div></div>',
    "flex 1": '<div style="display:flex"><div style="flex:1;overflow:hidden"><p>{}</p></div></div>',
    "bootstrap col": '<div style="display:flex"><div style="flex-basis:0;flex-grow:1;max-width:100%;overflow:hidden"><p>{}</p></div></div>',
    "grid minmax 0": '<div style="display:grid;grid-template-columns:minmax(0,1fr)"><p>{}</p></div>',
    "clearfix": '<style>.cf::after{content:"";display:table;clear:both;height:0;visibility:hidden}</style><div class="cf"><p>{}</p></div>',
    "card overlay hover": '<style>.card{position:relative}.card::after{content:"";position:absolute;inset:0;background:#000;opacity:0}</style><div class="card"><p>{}</p></div>',
    "badge": '<div style="position:relative"><p>{}</p><span style="position:absolute;top:0;right:0;background:#f00;color:#fff">新</span></div>',
    "sticky header": '<div style="position:sticky;top:0;background:#fff">栏</div><p>{}</p>',
    "img shadow": '<p style="text-shadow:none">{}</p>',
    "contain content": '<div style="contain:content"><p>{}</p></div>',
    "content-visibility auto": '<div style="content-visibility:auto;contain-intrinsic-size:500px"><p>{}</p></div>',
    "transform none": '<p style="transform:translateZ(0);backface-visibility:hidden">{}</p>',
    "will animate": '<style>@keyframes up{from{opacity:0;transform:translateY(20px)}to{opacity:1;transform:none}}.z{animation:up .3s ease both}</style><p class="z">{}</p>',
    "rtl": '<p dir="rtl">{}</p>',
}


@pytest.mark.parametrize("markup", UNSEEN.values(), ids=UNSEEN)
def test_what_nobody_sees_is_not_read(reader: Reader, web: Web, markup: str) -> None:
    assert WORDS not in read(reader, web, markup)


@pytest.mark.parametrize("markup", SEEN.values(), ids=SEEN)
def test_what_everybody_sees_is_read(reader: Reader, web: Web, markup: str) -> None:
    assert WORDS in read(reader, web, markup)


def test_a_cover_over_most_of_a_page_is_there_until_the_page_is_loaded(reader: Reader, web: Web) -> None:
    cover = '<div style="position:absolute;inset:0;background:#fff">加载中</div>'
    body = pages.page(
        f'<div style="position:relative"><article>{pages.paragraphs(*pages.STORY)}</article>{cover}</div>'
    )
    page = reader.read(web.page("a.example/", body.encode(), HTML), deadline=Deadline(60))
    assert pages.STORY[4] in page.text


def test_a_feed_hides_nothing_either(reader: Reader, web: Web) -> None:
    entry = f'<p style="display:none">{WORDS}</p><p>{pages.STORY[0]}</p>'
    feed = f'<?xml version="1.0"?><rss><channel><item><title>一</title><description><![CDATA[{entry}]]></description></item></channel></rss>'
    page = reader.read(web.page("a.example/", feed.encode(), "Content-Type: text/xml"), deadline=Deadline(60))
    assert (pages.STORY[0] in page.text, WORDS in page.text) == (True, False)


COSTLY = {
    "variables that double": ":root{"
    + "".join(f"--v{n}:var(--v{n + 1})var(--v{n + 1});" for n in range(60))
    + "--v60:x}p{color:var(--v0)}",
    "variables in a circle": ":root{"
    + "".join(f"--v{n}:var(--v{(n + 1) % 5000});" for n in range(5_000))
    + "}p{color:var(--v0)}",
    "variables for everything": "*{"
    + "".join(f"--v{n}:{n};" for n in range(3_000))
    + "}"
    + "".join(f"p{{left:var(--v{n})}}" for n in range(3_000)),
    "variables within variables": "p{color:" + "var(--a," * 20_000 + "red" + ")" * 20_000 + "}",
    "calculations within calculations": "p{left:" + "calc(1px + " * 20_000 + "1px" + ")" * 20_000 + "}",
    "a long calculation": "p{left:calc(" + "1px + " * 100_000 + "1px)}",
    "brackets within brackets": "p" + "(" * 300_000,
    "conditions within conditions": "@media " + "(" * 100_000 + "{p{color:red}}",
    "many conditions": "@media " + "(min-width:1px) and " * 50_000 + "(color){p{color:red}}",
    "layers": "".join(f"@layer a{n}.b{n}{{p{{left:{n}px}}}}" for n in range(20_000)),
    "frames": "".join(f"@keyframes k{n}{{to{{opacity:1}}}}" for n in range(30_000)) + "p{animation:k1 1s both}",
    "mixed colours": "p{color:" + "color-mix(in srgb," * 5_000 + "red" + ",red)" * 5_000 + "}",
    "covers": "p{position:relative}p::before,p::after{content:'';position:absolute;inset:0;background:#fff}" * 1_000,
    "polygons": "".join(f"p{{clip-path:polygon({'1px 2px,' * 200}{n}px 3px)}}" for n in range(1_000)),
    "selectors of one rule": ",".join(f".a{n}:not(.b)" for n in range(50_000)) + ",p{color:red}",
}


@pytest.mark.parametrize("css", COSTLY.values(), ids=COSTLY)
def test_a_sheet_that_costs(reader: Reader, web: Web, css: str) -> None:
    """Text or a sentence within the second that a page has; the next page is read."""
    body = pages.page(f"<style>{css}</style><article>{pages.paragraphs(*pages.STORY) * 20}</article>")
    (found,) = reader.read_all([web.page("a.example/", body.encode(), HTML)], deadline=Deadline(60))
    assert isinstance(found, Page) or found.reason in {"complex", "empty"}
    assert WORDS in read(reader, web, "<p>{}</p>")
