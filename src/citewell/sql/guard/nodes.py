"""The kinds of nodes that the tree of a statement may have, by the names that sqlglot gives them. A
kind that is not here is refused, so what a new version of sqlglot learns to parse stays refused
until it is read and added.
"""

from __future__ import annotations

from citewell.text.split_words import split_words

# Clauses, operators, literals, names.
GRAMMAR_NODES = split_words(
    """
        Add Alias Aliases All Any AtTimeZone Between BitString BitwiseAnd BitwiseLeftShift
        BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor Boolean Bracket ByteString CTE
        CharacterSet Column ColumnDef Comprehension Cube DPipe DataType DataTypeParam Distance
        Distinct Div Dot EQ Escape Except Fetch Filter ForIn FormatJson From GT GTE Glob Group
        GroupingSets Having HavingMax HexString ILike Identifier IgnoreNulls In IndexTableHint
        IntDiv Intersect Interval IntervalSpan Is JSON JSONColumnDef JSONExtractQuote JSONKeyValue
        JSONPath JSONPathFilter JSONPathKey JSONPathRecursive JSONPathRoot JSONPathSelector
        JSONPathSlice JSONPathSubscript JSONPathUnion JSONPathWildcard JSONSchema JSONValue Join
        Kwarg LT LTE Lambda Lateral Like Limit LimitOptions Literal Mod Mul NEQ National Neg Not
        Null NullSafeEQ NullSafeNEQ Offset OnCondition Operator Order Ordered
        OverflowTruncateBehavior Overlaps Paren Pivot PivotAlias PivotAny PositionalColumn
        PropertyEQ Qualify RespectNulls Rollup Select SimilarTo Slice Star Sub Subquery Table
        TableAlias TableSample Tuple Union UnpivotColumns Values Var Where Window WindowSpec With
        WithinGroup
"""
)
# Functions that sqlglot knows: those that the names of guard_functions give, and what operators and
# special forms give.
FUNCTION_NODES = split_words(
    """
        Abs Acos Acosh AddMonths And Anonymous AnonymousAggFunc AnyValue ApproxDistinct
        ApproxQuantile ApproxTopK ArgMax ArgMin Array ArrayAgg ArrayAll ArrayAny ArrayAppend
        ArrayConcat ArrayContainedBy ArrayContains ArrayContainsAll ArrayDistinct ArrayExcept
        ArrayFilter ArrayFirst ArrayIntersect ArrayLast ArrayMax ArrayMin ArrayOverlaps
        ArrayPosition ArrayPrepend ArrayRemove ArrayReverse ArraySize ArraySlice ArraySort ArraySum
        ArrayToString ArraysZip Ascii Asin Asinh Atan Atan2 Atanh Avg Base64DecodeBinary
        Base64DecodeString Base64Encode BitLength BitwiseAndAgg BitwiseCount BitwiseOrAgg
        BitwiseXorAgg Boolnot ByteLength Case Cast CastToStrType Cbrt Ceil Chr Coalesce Collate
        Columns Concat ConcatWs Contains Convert ConvertTimezone ConvertToCharset Corr Cos Cosh
        CosineDistance Cot Count CountIf CovarPop CovarSamp CumeDist CurrentDate CurrentDatetime
        CurrentTime CurrentTimestamp Date DateAdd DateBin DateDiff DateFromParts DateStrToDate
        DateSub DateTrunc Datetime DatetimeAdd DatetimeDiff DatetimeSub DatetimeTrunc Day DayOfMonth
        DayOfWeek DayOfWeekIso DayOfYear Dayname Decode DecodeCase Degrees DenseRank DotProduct Elt
        Encode EndsWith EuclideanDistance Exists Exp Explode ExplodingGenerateSeries Extract
        Factorial First FirstValue Flatten Floor Format FromBase64 FromJson GenerateSeries Getbit
        Greatest GroupConcat Grouping GroupingId Hex Hour If Initcap Int64 IsInf IsNan IsNullValue
        JSONArray JSONArrayAgg JSONArrayAppend JSONArrayContains JSONArrayInsert JSONBContains
        JSONBContainsAllTopKeys JSONBContainsAnyTopKeys JSONBContainsTopKey JSONBDeleteAtPath
        JSONBExists JSONBExtract JSONBExtractScalar JSONBObjectAgg JSONBPathExists JSONCast
        JSONExists JSONExtract JSONExtractArray JSONExtractScalar JSONFormat JSONKeys JSONObject
        JSONObjectAgg JSONRemove JSONSet JSONStripNulls JSONTable JSONType JSONValueArray
        JarowinklerSimilarity JustifyDays JustifyHours JustifyInterval Kurtosis Lag Last LastDay
        LastValue Lead Least Left Length Levenshtein List Ln Localtime Localtimestamp Log LogicalAnd
        LogicalOr Lower LowerHex MD5 MD5Digest MakeInterval Map MapCat MapContainsKey MapFromEntries
        MapKeys MapSize MatchAgainst Max Median Min Minute Mode Month Monthname MonthsBetween
        Negative Normalize NthValue Ntile Nullif NumberToStr Nvl2 Or Overlay Pad ParameterizedAgg
        ParseJSON ParseTime PercentRank PercentileCont PercentileDisc Pi Pow Quantile Quarter
        Radians Rand Rank Reduce RegexpCount RegexpExtract RegexpExtractAll RegexpFullMatch
        RegexpILike RegexpInstr RegexpLike RegexpReplace RegexpSplit RegexpSubstr RegrAvgx RegrAvgy
        RegrCount RegrIntercept RegrR2 RegrSlope RegrSxx RegrSxy RegrSyy Repeat Replace Reverse
        Right Round RowNumber SHA SHA1Digest SHA2 SHA2Digest Second Sign Sin Sinh Skewness Soundex
        Space Split SplitPart Sqrt StartsWith Stddev StddevPop StddevSamp StrPosition StrToDate
        StrToTime StrToUnix String StringToArray Struct StructExtract Stuff Substring SubstringIndex
        Sum Tan Tanh Time TimeAdd TimeDiff TimeFromParts TimeStrToDate TimeStrToTime TimeSub
        TimeToStr TimeToUnix TimeTrunc Timestamp TimestampAdd TimestampDiff TimestampFromParts
        TimestampSub TimestampTrunc TimestampTzFromParts ToArray ToBase64 ToBinary ToChar ToDays
        ToDouble ToMap ToNumber Transform Translate Trim Trunc Try TryCast TsOrDsAdd TsOrDsDiff
        TsOrDsToDate TsOrDsToDatetime TsOrDsToTime TsOrDsToTimestamp Typeof Unhex Unicode UnixMicros
        UnixMillis UnixSeconds UnixToStr UnixToTime Unnest Upper UtcDate UtcTime UtcTimestamp Uuid
        VarMap Variance VariancePop Week WeekOfYear WeightString WidthBucket Xor Year YearOfWeek
        YearOfWeekIso
"""
)
NODES = GRAMMAR_NODES | FUNCTION_NODES
# What may be said of these beside their children; the rest (INTO, locks, hints, modifiers) is
# refused.
_MODIFIERS = (
    "with_ joins laterals pivots where group having qualify windows order limit offset sample"
)
ARGUMENTS = {
    "Select": frozenset(f"expressions distinct from_ exclude {_MODIFIERS}".split()),
    "Union": frozenset(f"this expression distinct by_name side kind on {_MODIFIERS}".split()),
    "Except": frozenset(f"this expression distinct by_name side kind on {_MODIFIERS}".split()),
    "Intersect": frozenset(f"this expression distinct by_name side kind on {_MODIFIERS}".split()),
    "Subquery": frozenset(f"this alias {_MODIFIERS}".split()),
    "Table": split_words(
        "this alias db catalog joins laterals pivots ordinality only sample hints"
    ),
}
# A statement is one of these.
QUERIES = frozenset({"Select", "Union", "Except", "Intersect", "Subquery", "Values", "Pivot"})
