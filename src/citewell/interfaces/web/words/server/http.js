/** What the HTTP interface says: refusals, sign-in, forms. The one rule: as `index.js` says. */

/** @type {Record<string, string>} */
export const http = {
  "`citewell user token NAME` makes a new one": "`citewell user token NAME` 可生成新令牌",
  "a fault of Citewell; the server's log says where, at request {1}: please report it":
    "这是 Citewell 的缺陷；服务器日志中请求 {1} 处有说明，请反馈给我们",
  "a file is sent as a multipart/form-data body": "文件须以 multipart/form-data 发送",
  "a page of {1} may not change anything here": "{1} 的页面不能在这里修改任何内容",
  "a token on a page is everybody's: make one for a reader, citewell user token NAME --widget":
    "网页上的令牌人人可见：请为只读用户生成一个：citewell user token NAME --widget",
  "an upload is a multipart/form-data body": "上传须以 multipart/form-data 发送",
  "another site": "其他网站",
  "ask again in {1} seconds": "请在 {1} 秒后再问",
  "ask for it on the machine itself, or with an admin's token": "请在服务器本机上操作，或使用管理员的令牌",
  "ask less often": "请降低频率",
  "curl -F file=@paper.pdf .../api/papers; one of the web: JSON {\"url\": \"https://...\"}":
    "curl -F file=@paper.pdf .../api/papers；网上的论文：JSON {\"url\": \"https://...\"}",
  "curl -F file=@report.pdf .../api/chunks": "curl -F file=@report.pdf .../api/chunks",
  "curl -F file=@report.pdf .../{1}/documents; a page of the web: JSON {\"url\": \"https://...\"}":
    "curl -F file=@report.pdf .../{1}/documents；添加网页：JSON {\"url\": \"https://...\"}",
  "host {1} is not this server": "主机 {1} 不是本服务器",
  "internal error": "内部错误",
  "internal error: {1}": "内部错误：{1}",
  "leave user_id out: the token says who asks": "请不要写 user_id：令牌已说明是谁在提问",
  "more than {1} in a {2}": "每 {2} 超过 {1} 次",
  "nobody is signed in": "尚未登录",
  "nobody signs in here, so there are no users to look after": "这里无需登录，因此没有用户可管理",
  "others have asked too": "其他人也在使用",
  "paste it whole, from cw_ on; `citewell user token NAME` makes a new one":
    "请完整粘贴，从 cw_ 开始；`citewell user token NAME` 可生成新令牌",
  "raise ingest.max_bytes": "请调高 ingest.max_bytes",
  "see that the token is right": "请检查令牌是否正确",
  "send Authorization: Bearer TOKEN, or sign in on the page; `citewell user add NAME` makes a user and a token":
    "请发送 Authorization: Bearer TOKEN，或在页面上登录；`citewell user add NAME` 可创建用户和令牌",
  "send each file as a part with a file name": "每个文件都要带文件名发送",
  "send it as JSON with Content-Type: application/json; {1}": "请以 JSON 发送，并注明 Content-Type: application/json；{1}",
  "send less at a time": "请减少每次发送的内容",
  "send one file, as a part with a file name": "请只发送一个带文件名的文件",
  "send one JSON object, in UTF-8": "请发送一个 UTF-8 编码的 JSON 对象",
  "send one paper, as a part with a file name": "请只发送一篇带文件名的论文",
  "send X-CSRF-Token with the csrf of GET /api/me; programs send Authorization: Bearer TOKEN instead of a cookie":
    "请发送 X-CSRF-Token，值为 GET /api/me 返回的 csrf；程序请用 Authorization: Bearer TOKEN 代替 cookie",
  "set auth = \"token\" and start the server; until then `citewell user add NAME` adds users":
    "请设置 auth = \"token\" 并启动服务器；在此之前可用 `citewell user add NAME` 添加用户",
  "sign in with another: citewell user token NAME": "请用另一个令牌登录：citewell user token NAME",
  "the body is not valid JSON": "请求正文不是有效的 JSON",
  "the client has left": "客户端已离开",
  "the file is larger than the {1} bytes allowed": "文件大于上限 {1} 字节",
  "the form holds no file": "表单中没有文件",
  "the form holds {1} files": "表单中有 {1} 个文件",
  "the form is at /api/openapi.json": "格式见 /api/openapi.json",
  "the page has no file {1}": "页面没有文件 {1}",
  "the paths and their methods are listed at /api/openapi.json": "各路径及其方法见 /api/openapi.json",
  "the paths are listed at /api/openapi.json": "各路径见 /api/openapi.json",
  "the body holds more than {1} values": "请求体中的值超过 {1} 个",
  "the request is larger than the {1} bytes allowed": "请求大于上限 {1} 字节",
  "the server is stopping and takes nothing new": "服务器正在停止，不再接受新请求",
  "the token is unknown, was revoked, or has run out": "令牌不正确、已撤销或已过期",
  "the X-CSRF-Token is missing or wrong": "X-CSRF-Token 缺失或不正确",
  "this token is for the chat element": "这个令牌用于聊天组件",
  "this token of {1} is not for pages of other sites": "{1} 的这个令牌不能用于其他网站的页面",
  "make one that says what the page may ask: citewell user token NAME --widget --collection C, or --site S":
    "请创建一个写明页面可以问什么的令牌：citewell user token NAME --widget --collection C，或 --site S",
  "this token is for the chat element: it is not good for {1} {2}": "这个令牌用于聊天组件，不能用于 {1} {2}",
  "use another token: citewell user token NAME": "请换一个令牌：citewell user token NAME",
  "use http://127.0.0.1 or http://localhost with the port that `citewell serve` printed":
    "请用 http://127.0.0.1 或 http://localhost 加上 `citewell serve` 显示的端口",
  "with auth = \"token\", access.hosts lists other names": "启用 auth = \"token\" 后，可在 access.hosts 中列出其他名称",
  "{1} MCP sessions of this user are in use": "该用户有 {1} 个 MCP 会话正在使用",
  "end some of them; one that does nothing makes room by itself": "请结束其中一些；空闲的会话会自动让出位置",
  "{1} is for admins": "{1} 仅供管理员使用",
  "{1} is {2}; pages of other sites use a reader's token": "{1} 的角色是 {2}；其他网站的页面应使用只读用户的令牌",
  "{1} may not ask or change anything as {2}": "{1} 不能以 {2} 的身份提问或修改",
  "{1}, and go on in {2} s; {3} says how many are allowed": "{1}；请在 {2} 秒后继续；上限由 {3} 规定",
};
