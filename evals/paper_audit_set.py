"""Claims written by hand on two made-up papers, as a model would word them, for `paper_audit.py`: half true, half false.

The one rule: the claims were written before the rules that judge them, and are never changed to please them.
"""

# ruff: noqa: E501 - a claim, a pattern with its change, is read on one line
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """`part`: the passage that it is about. `kind`: `true`, or what is wrong with it; `hedge` may be found right in part."""

    part: str
    kind: str
    text: str


PAPERS = {
    "en": ("Multi-hop Retrieval with Planned Queries", ("results", "method", "ablation", "limits", "table", "related")),
    "zh": ("面向长文档问答的分层索引", ("结果", "方法", "消融", "局限", "表", "相关")),
}
PASSAGES = {
    "results": "PlanRet reaches 71.2 F1 on HotpotQA, while the BM25 baseline reaches 58.4. Dense retrieval with Contriever scores "
    "64.9 on the same questions. PlanRet outperforms Contriever on all three datasets, and the gap is largest on MuSiQue (9.3 "
    "percentage points). On 2WikiMultiHopQA the difference between PlanRet and Contriever is not statistically significant "
    "(p = 0.21). Planning adds 180 ms per question, so PlanRet is slower than Contriever.",
    "method": "PlanRet first asks a frozen 7B language model to write a plan of at most four sub-questions. Each sub-question is "
    "then answered by a retriever that was fine-tuned on 12,000 questions for three epochs. We use AdamW with a learning rate of "
    "2e-5 and a batch size of 32. The planner is not fine-tuned; only the retriever is trained. If a sub-question cannot be "
    "answered, it is rewritten once.",
    "ablation": "Removing the planner lowers F1 from 71.2 to 63.5 on HotpotQA. Removing the rewriting step costs only 0.8 points. "
    "A larger planner may help: with a 13B model F1 rises to 72.0, but memory use grows from 16 GB to 28 GB. In some cases the "
    "planner repeats a sub-question, which wastes a retrieval call. We found no benefit from more than four sub-questions.",
    "limits": "PlanRet was tested on English questions only. Its plans are sometimes wrong for questions with dates; 14 of 100 "
    "plans that we inspected contained an error. Most errors come from the planner rather than from the retriever. We did not "
    "measure energy use. The approach might not carry over to conversational questions.",
    "table": "Table 2: F1 of three retrievers.\n"
    "Model: BM25 | HotpotQA F1: 58.4 | MuSiQue F1: 31.7 | 2Wiki F1: 49.0\n"
    "Model: Contriever | HotpotQA F1: 64.9 | MuSiQue F1: 38.2 | 2Wiki F1: 61.5\n"
    "Model: PlanRet | HotpotQA F1: 71.2 | MuSiQue F1: 47.5 | 2Wiki F1: 62.1",
    "related": "Khattab et al. (2021) proposed Baleen, which condenses retrieved passages after each hop. Trivedi et al. (2022) "
    "introduced IRCoT, which interleaves retrieval with chain-of-thought steps. Unlike IRCoT, PlanRet writes all sub-questions "
    "before the first retrieval. Baleen needs supervision for every hop, whereas IRCoT needs none.",
    "结果": "在 LongQA-ZH 上，HiIndex 的准确率达到 78.6%，而平铺索引为 70.3%。在 LawDoc 上，两者的准确率分别为 66.1% 和 61.9%。"
    "HiIndex 在两个数据集上均优于平铺索引，但其建库时间比平铺索引长 2.4 倍。与 RAPTOR 相比，HiIndex 的准确率高 1.5 个百分点，"
    "差异并不显著（p = 0.18）。检索延迟从 320 毫秒降低到 210 毫秒。",
    "方法": "HiIndex 先把文档切成不超过 400 字的段落，再由摘要模型为每个章节生成一段摘要。摘要模型采用冻结的 Qwen-7B，不参与训练；"
    "只有检索器在 2.4 万个问题上微调了两轮。查询先与章节摘要匹配，再在选中的章节内检索段落。若章节得分低于 0.35，则退回到全文检索。",
    "消融": "去掉摘要后，准确率从 78.6% 下降到 73.0%。去掉回退机制的影响较小，仅下降 0.6 个百分点。段落长度从 400 字增加到 800 字时，"
    "准确率略有下降。更大的摘要模型可能带来提升，但显存占用会从 18 GB 增加到 34 GB。",
    "局限": "实验仅覆盖中文文档，未在英文文档上测试。部分章节标题缺失的文档会导致索引层级错误。在抽查的 200 个问题中，有 23 个答案引用了"
    "错误的章节。大多数错误来自摘要而不是检索器。该方法可能不适用于频繁更新的文档。",
    "表": "表 2：三种索引的准确率。\n"
    "模型: 平铺索引 | LongQA-ZH: 70.3 | LawDoc: 61.9 | NewsLong: 55.8\n"
    "模型: RAPTOR | LongQA-ZH: 77.1 | LawDoc: 64.8 | NewsLong: 60.2\n"
    "模型: HiIndex | LongQA-ZH: 78.6 | LawDoc: 66.1 | NewsLong: 61.0",
    "相关": "陈立等人（2021）提出了 DocTree，用标题构造树状索引。王敏等人（2022）提出了 MemWalk，让模型在摘要树上逐步导航。"
    "MemWalk 每个问题平均调用模型 6 次，HiIndex 只调用 1 次。DocTree 需要人工标注的标题层级，MemWalk 不需要。",
}
CLAIMS = [
    Claim(*each)
    for each in (
        ("results", "true", "PlanRet achieves an F1 of 71.2 on HotpotQA, compared with 58.4 for the BM25 baseline."),
        ("results", "true", "On HotpotQA, Contriever's dense retrieval scores 64.9."),
        ("results", "true", "Contriever is outperformed by PlanRet on all three datasets."),
        (
            "results",
            "true",
            "The difference between PlanRet and Contriever on 2WikiMultiHopQA is not statistically significant.",
        ),
        (
            "results",
            "true",
            "Because of the planning step, PlanRet is slower than Contriever: it takes 180 ms more per question.",
        ),
        ("method", "true", "Only the retriever is trained; the 7B language model that writes the plan stays frozen."),
        ("method", "true", "The retriever is fine-tuned for three epochs on 12,000 questions with AdamW."),
        ("ablation", "true", "Without the planner, F1 on HotpotQA drops from 71.2 to 63.5."),
        ("ablation", "true", "The rewriting step contributes little: removing it costs only 0.8 points."),
        ("ablation", "true", "With a 13B planner F1 rises to 72.0, but it needs 28 GB of memory instead of 16 GB."),
        ("limits", "true", "Of 100 plans that were inspected, 14 contained an error."),
        ("limits", "true", "The planner causes most of the errors, not the retriever."),
        ("table", "true", "In Table 2, PlanRet obtains 47.5 F1 on MuSiQue, ahead of Contriever with 38.2 and BM25 with 31.7."),
        ("related", "true", "IRCoT, introduced by Trivedi et al. (2022), interleaves retrieval with chain-of-thought steps."),
        ("related", "true", "PlanRet differs from IRCoT in that it writes all sub-questions before the first retrieval."),
        ("related", "true", "Unlike Baleen, IRCoT needs no supervision for every hop."),
        ("results", "numbers", "BM25 reaches 71.2 F1 on HotpotQA, while PlanRet reaches 58.4."),
        ("results", "sides", "Contriever outperforms PlanRet on all three datasets."),
        ("results", "turned", "The gap between PlanRet and Contriever is smallest on MuSiQue (9.3 percentage points)."),
        ("results", "denial", "On 2WikiMultiHopQA the difference between PlanRet and Contriever is statistically significant."),
        ("results", "turned", "PlanRet is faster than Contriever, although planning adds 180 ms per question."),
        ("method", "denial", "The planner is fine-tuned together with the retriever."),
        ("results", "unit", "Planning adds 180 seconds per question."),
        ("ablation", "turned", "Removing the planner raises F1 from 63.5 to 71.2 on HotpotQA."),
        ("ablation", "hedge", "A larger planner helps, and memory use grows from 16 GB to 28 GB."),
        ("ablation", "name", "Removing the rewriting step lowers F1 from 71.2 to 63.5 on HotpotQA."),
        ("limits", "sides", "Most errors come from the retriever rather than from the planner."),
        ("table", "cell", "In Table 2, Contriever reaches 47.5 F1 on MuSiQue."),
        ("related", "name", "Baleen, introduced by Trivedi et al. (2022), interleaves retrieval with chain-of-thought steps."),
        ("results", "unit", "The gap is largest on MuSiQue (9.3%)."),
        ("ablation", "hedge", "The planner always repeats a sub-question, which wastes a retrieval call."),
        ("table", "cell", "PlanRet scores 61.5 F1 on 2Wiki."),
        ("limits", "hedge", "The approach does not carry over to conversational questions."),
        ("ablation", "denial", "We found a benefit from more than four sub-questions."),
        ("结果", "true", "HiIndex 在 LongQA-ZH 上的准确率为 78.6%，高于平铺索引的 70.3%。"),
        ("结果", "true", "在 LawDoc 上，HiIndex 和平铺索引的准确率分别是 66.1% 和 61.9%。"),
        ("结果", "true", "平铺索引在两个数据集上都不如 HiIndex。"),
        ("结果", "true", "不过 HiIndex 的建库时间比平铺索引更长，长 2.4 倍。"),
        ("结果", "true", "HiIndex 的准确率比 RAPTOR 高 1.5 个百分点，但差异不显著。"),
        ("结果", "true", "检索延迟由 320 毫秒降到了 210 毫秒。"),
        ("方法", "true", "摘要由冻结的 Qwen-7B 生成，只有检索器经过微调。"),
        ("方法", "true", "检索器用 2.4 万个问题微调了两轮。"),
        ("方法", "true", "查询时先匹配章节摘要，然后在选中的章节里检索段落。"),
        ("消融", "true", "如果去掉摘要，准确率会由 78.6% 降至 73.0%。"),
        ("消融", "true", "去掉回退机制只让准确率下降 0.6 个百分点。"),
        ("消融", "true", "把段落长度从 400 字加大到 800 字，准确率会略微下降。"),
        ("局限", "true", "抽查的 200 个问题里，23 个答案引用的章节是错误的。"),
        ("局限", "true", "错误大多数来自摘要，而不是检索器。"),
        ("表", "true", "根据表 2，RAPTOR 在 LawDoc 上的准确率为 64.8。"),
        ("相关", "true", "MemWalk 平均每个问题要调用模型 6 次，而 HiIndex 只需调用 1 次。"),
        ("结果", "numbers", "平铺索引在 LongQA-ZH 上的准确率达到 78.6%。"),
        ("结果", "numbers", "在 LawDoc 上，HiIndex 的准确率为 61.9%，平铺索引为 66.1%。"),
        ("结果", "sides", "平铺索引在两个数据集上均优于 HiIndex。"),
        ("结果", "turned", "HiIndex 的建库时间比平铺索引短 2.4 倍。"),
        ("结果", "denial", "与 RAPTOR 相比，HiIndex 的准确率高 1.5 个百分点，差异显著。"),
        ("结果", "turned", "检索延迟从 210 毫秒增加到 320 毫秒。"),
        ("结果", "unit", "检索延迟从 320 秒降低到 210 秒。"),
        ("方法", "name", "摘要模型在 2.4 万个问题上微调了两轮。"),
        ("消融", "turned", "去掉摘要后，准确率从 73.0% 上升到 78.6%。"),
        ("消融", "name", "去掉回退机制后，准确率从 78.6% 下降到 73.0%。"),
        ("消融", "hedge", "更大的摘要模型会带来提升，但显存占用会从 18 GB 增加到 34 GB。"),
        ("局限", "sides", "大多数错误来自检索器而不是摘要。"),
        ("结果", "unit", "与 RAPTOR 相比，HiIndex 的准确率高 1.5%，差异并不显著。"),
        ("相关", "name", "王敏等人（2022）提出了 DocTree，用标题构造树状索引。"),
        ("表", "cell", "RAPTOR 在 LongQA-ZH 上的准确率为 78.6。"),
        ("相关", "numbers", "HiIndex 每个问题平均调用模型 6 次。"),
        ("局限", "hedge", "所有章节标题缺失的文档都会导致索引层级错误。"),
        ("局限", "hedge", "该方法不适用于频繁更新的文档。"),
        ("局限", "denial", "实验在英文文档上测试过。"),
    )
]
