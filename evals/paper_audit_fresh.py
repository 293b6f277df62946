"""Claims on two more made-up papers, written after the rules that lay a claim beside its sentence and without running them on these.

Half are true paraphrases, half are false by a word, a subject or a count. The one rule: the claims are never changed; what they
teach goes into the next rules, not into the figure of the first run: 9 of 12 false ones caught (6 outright; 3, 2 by the rules
before), 2 of 12 true ones failed and 3 proved in part (1 and 3 by the rules before).
"""

# ruff: noqa: E501 - a claim, a pattern with its change, is read on one line
from __future__ import annotations

from paper_audit_set import Claim

PAPERS = {
    "en": ("Estimating canopy water from drone images", ("sensing", "network", "field", "bounds")),
    "zh": ("基于声学信号的水泵故障诊断", ("采集", "网络", "对比", "限制")),
}
PASSAGES = {
    "sensing": "We flew a quadcopter over 14 orchards in Murcia and recorded six spectral bands. Images were taken at noon to keep "
    "shadows short. Each orchard was visited every ten days from April to August. Leaf samples were weighed within 20 minutes of "
    "picking.",
    "network": "CANOPYNET encodes each tile with a pretrained vision transformer of 12 blocks. The image branch is updated during "
    "training and the weather branch is kept constant. We minimise the Huber loss with a learning rate of 0.001. A dropout rate "
    "of 0.3 prevents overfitting on the smaller orchards.",
    "field": "CANOPYNET has a mean error of 3.2 percent, whereas the vegetation index has one of 8.8 percent. On sandy soils its error "
    "grows to 5.1 percent. Removing the thermal band hurts most. Farmers who used the maps saved 17 percent of their water, but "
    "yields did not change. The index of Gao et al. needs no training, and our network runs on a phone.",
    "bounds": "Only citrus orchards were studied. Cloudy days were discarded. The maps are refreshed too rarely for daily irrigation. "
    "We did not test whether the network transfers to other crops.",
    "采集": "我们在 8 座泵站安装了 24 个麦克风，每台水泵连续录音三周。录音的采样率为 16 kHz。故障由两名检修人员独立标注，分歧由工程师裁定。",
    "网络": "EchoPump 先把声音转换为梅尔谱，再用残差网络提取特征。残差网络有 18 层，分类头有 5 个输出。音频分支用公开数据预训练，振动分支从零开始训练。"
    "为减少噪声，我们在训练时加入了环境录音。",
    "对比": "EchoPump 的漏报率为 2.7%，支持向量机的漏报率为 9.4%。在老旧泵站，EchoPump 的漏报率升至 4.8%。轴承磨损最容易识别，气蚀最难识别。"
    "王磊等人设计了阈值规则，我们把它作为基线。",
    "限制": "水下泵没有参与评测。雨天录音已被剔除。模型每季度更新一次。我们没有统计误报造成的停机成本。",
}
CLAIMS = [
    Claim(*each)
    for each in (
        ("sensing", "true", "A quadcopter was flown over 14 orchards in Murcia, and six spectral bands were recorded."),
        ("sensing", "true", "To keep shadows short, the images were captured at noon."),
        ("network", "true", "The weather branch is kept constant, whereas the image branch is updated during training."),
        ("field", "true", "The vegetation index has a mean error of 8.8 percent, CANOPYNET one of 3.2 percent."),
        ("field", "true", "Farmers using the maps saved 17 percent of their water without any change in yields."),
        ("bounds", "true", "Images from cloudy days were thrown away."),
        ("sensing", "word", "Images were taken at dawn to keep shadows short."),
        ("network", "subject", "The weather branch is updated during training and the image branch is kept constant."),
        ("network", "count", "The vision transformer of CANOPYNET has 12 heads."),
        ("field", "word", "On clay soils the error of CANOPYNET grows to 5.1 percent."),
        ("field", "numbers", "CANOPYNET has a mean error of 8.8 percent."),
        ("bounds", "word", "Cloudy days were interpolated."),
        ("采集", "true", "作者在 8 座泵站共布置了 24 个麦克风，并对每台水泵连续录音三周。"),
        ("采集", "true", "两名检修人员独立标注故障，有分歧时由工程师裁定。"),
        ("网络", "true", "振动分支从零开始训练，音频分支则用公开数据预训练。"),
        ("对比", "true", "支持向量机的漏报率是 9.4%，而 EchoPump 只有 2.7%。"),
        ("对比", "true", "最难识别的是气蚀，最容易识别的是轴承磨损。"),
        ("限制", "true", "该模型每个季度更新一次，评测中不包括水下泵。"),
        ("采集", "count", "我们在 24 座泵站安装了 8 个麦克风。"),
        ("网络", "subject", "振动分支用公开数据预训练，音频分支从零开始训练。"),
        ("网络", "count", "残差网络有 18 个输出。"),
        ("对比", "word", "在新建泵站，EchoPump 的漏报率升至 4.8%。"),
        ("对比", "subject", "气蚀最容易识别，轴承磨损最难识别。"),
        ("限制", "word", "雪天录音已被剔除。"),
    )
]
