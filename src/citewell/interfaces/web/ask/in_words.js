/**
 * What the server says of its own doing in English, for a page in Chinese: why an agent was chosen, what is wrong with a sentence.
 * The one rule: what has no Chinese here stays as it is; a reader would miss it more than its language.
 */
import { lang } from "../state.js";

/** @type {[RegExp, string][]} as in `service/snapshot_words.py` and `skills/verify.py` */
const CHINESE = [
  [/^this session reads a paper$/, "这个会话在读一篇论文"],
  [/^this session asks a website$/, "这个会话在问一个网站"],
  [/^this session asks the tables(.*)$/, "这个会话在查询表格$1"],
  [/^the table source (.+) is chosen$/, "选定了表格 $1"],
  [/^the tables (.+) have what the question names: (.+)$/, "表格 $1 中有问题所说的内容：$2"],
  [/^the question names the address (.+)$/, "问题写出了地址 $1"],
  [/^the question asks for the web$/, "问题要求搜索网络"],
  [/^the question is about what is new$/, "问题问的是新近的事"],
  [/^there is something to remember$/, "有需要记住的内容"],
  [/^there is nothing to answer, only something to remember$/, "没有要回答的，只有要记住的内容"],
  [/^the question is about what was said before$/, "问题问的是之前说过的话"],
  [/^the question is about the user, of whom something is remembered$/, "问题与用户本人有关，而记忆中有相关内容"],
  [/^several things are asked at once$/, "一次问了几件事"],
  [/^a question of kind (.+) may need a second search$/, "$1 类的问题可能需要第二次检索"],
  [/^a follow-up question about the documents$/, "这是就文档追问的问题"],
  [/^a question that one search of the documents should settle$/, "这个问题检索一次文档应能解决"],
  [/^nothing speaks for another agent$/, "没有选择其他智能体的理由"],
  [/^the way to search that the request names$/, "请求指定了这种检索方式"],
  [/^the way to search that the settings name$/, "设置指定了这种检索方式"],
  [/^a question like this one was settled this way before$/, "类似的问题以前是这样解决的"],
  [/^a question of kind (.+) is answered by whole sections$/, "$1 类的问题要用整节内容来回答"],
  [/^the question names a section$/, "问题指明了章节"],
  [/^the question may mean either of two things$/, "问题可能指两件事中的任何一件"],
  [/^something is to be forgotten$/, "有需要忘记的内容"],
  [/^nothing is asked of the documents$/, "没有问到文档的内容"],
  [/^number (.+) of the question is not in the source$/, "来源中没有问题里的数字 $1"],
  [/^number (.+) is not in the source$/, "来源中没有数字 $1"],
  [/^date (.+) is not in the source$/, "来源中没有日期 $1"],
  [/^name (.+) is not in the source$/, "来源中没有名称 $1"],
  [/^it denies what the source affirms, or the other way round$/, "与来源的肯定或否定相反"],
  [/^the question denies what the source does not$/, "问题作了否定，而来源没有"],
  [/^too few of its words stand in the sources$/, "来源中只有少数用词与它相符"],
  [/^the sources do not settle a bare yes or no$/, "来源不足以断定是或否"],
  [/^a passage closer to the question gives another figure$/, "更贴近问题的一段给出了另一个数字"],
  [/^it could not be checked$/, "没能核对"],
];

/** @param {string} text */
export function inWords(text) {
  if (lang.value !== "zh") return text;
  const found = CHINESE.find(([pattern]) => pattern.test(text));
  return found ? text.replace(...found) : text;
}
