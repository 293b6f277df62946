"""The functions that a statement over tables may call: those that only compute a value from what
they are given. A name that is not here is refused; nothing that writes, waits, locks, reads files,
settings, other sessions or other tables by name, or runs text as SQL may be added. tests/sql/guard
hold the tables against the engines' catalogues.
"""

from __future__ import annotations

from citewell.sql.engines.engine import Dialect
from citewell.text.split_words import split_words

# Words of the grammar that may stand before a parenthesis without being a function.
GRAMMAR = split_words(
    """
        all and any array as asof at anti between by case columns cross cube distinct div else
        except exclude exists filter for from full grouping sets group having ignore ilike in index
        inner interval intersect is join key lateral left like limit match against materialized
        member mod natural not of offset on only or order ordinality outer over overlaps partition
        pivot positional qualify range recursive regexp rename replace right rlike rollup row rows
        sample select semi separator similar some struct symmetric tablesample then to union unpivot
        using values where when window with within xor
"""
)
# Types that take a length or a precision.
TYPES = split_words(
    """
        binary bit blob bpchar char character clob date datetime dec decimal double enum float
        integer int bigint smallint tinyint interval nchar number numeric nvarchar real signed
        string text time timestamp timestamptz timetz union unsigned varbinary varchar varying zone
"""
)
_COMMON = """
    abs acos asin atan atan2 ceil ceiling cos cot degrees exp floor ln log log10 log2 mod pi pow
    power radians round sign sin sqrt tan trunc avg count max min sum group_concat string_agg
    array_agg stddev stddev_pop stddev_samp var_pop var_samp variance corr covar_pop covar_samp
    regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
    percentile_cont percentile_disc mode grouping bit_and bit_or bit_xor bool_and bool_or every
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank
    row_number cast try_cast coalesce nullif greatest least ifnull nvl extract char_length
    character_length length lower upper ltrim rtrim trim replace reverse concat concat_ws left right
    lpad rpad repeat position substr substring overlay ascii chr translate split_part starts_with
    md5 hex unhex date time timestamp current_date current_time current_timestamp localtime
    localtimestamp now date_part date_trunc age json_array json_object json_extract json_valid
    json_type json_array_length random unnest
"""
_SQLITE = """
    acosh asinh atanh cosh sinh tanh iif instr julianday strftime datetime unixepoch timediff quote
    typeof unicode char soundex total likely unlikely likelihood printf format glob like json
    json_each json_tree json_extract json_quote json_patch json_remove json_replace json_set
    json_insert json_group_array json_group_object sum avg zeroblob subtype octet_length if median
    percentile sqlite_version generate_series match
"""
_DUCKDB = """
    acosh asinh atanh cosh sinh tanh add age any_value apply map approx_count_distinct
    approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_max_nulls_last arg_min
    arg_min_null arg_min_nulls_last argmax argmin array_aggr array_aggregate array_append
    array_apply array_cat array_concat array_contains array_cosine_distance array_cosine_similarity
    array_cross_product array_distance array_distinct array_dot_product array_extract array_filter
    array_grade_up array_has array_has_all array_has_any array_indexof array_inner_product
    array_intersect array_length array_pop_back array_pop_front array_position array_prepend
    array_push_back array_push_front array_reduce array_resize array_reverse array_reverse_sort
    array_select array_slice array_sort array_to_json array_to_string array_transform array_unique
    array_value array_where array_zip bar base64 bin bit_count bit_length bit_position bitstring
    bitstring_agg cardinality cbrt century columns contains count_if count_star countif
    damerau_levenshtein date_add date_diff date_sub datediff datepart datesub datetrunc day dayname
    dayofmonth dayofweek dayofyear days_in_month decade decode divide editdist3 element_at encode
    ends_with entropy enum_code enum_first enum_last enum_range epoch epoch_ms epoch_ns epoch_us
    equi_width_bins era even factorial favg fdiv fill filter first flatten fmod format format_bytes
    formatreadabledecimalsize formatreadablesize from_base64 from_binary from_hex from_json
    from_json_strict fsum gamma gcd gen_random_uuid generate_series generate_subscripts geomean
    geometric_mean get_bit get_current_time get_current_timestamp grade_up greatest_common_divisor
    hamming hash histogram histogram_exact hour if instr isfinite isinf isnan isodow isoyear jaccard
    jaro_similarity jaro_winkler_similarity json json_contains json_deep_merge json_each json_exists
    json_extract_path json_extract_path_text json_extract_string json_group_array json_group_object
    json_group_structure json_keys json_merge_patch json_normalize json_pretty json_quote
    json_structure json_transform json_transform_strict json_tree json_value julian kahan_sum
    kurtosis kurtosis_pop lambda last last_day lcase lcm least_common_multiple left_grapheme len
    length_grapheme levenshtein lgamma list list_aggr list_aggregate list_any_value list_append
    list_apply list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor
    list_bool_and list_bool_or list_cat list_concat list_contains list_cosine_distance
    list_cosine_similarity list_count list_distance list_distinct list_dot_product list_element
    list_entropy list_extract list_filter list_first list_grade_up list_has list_has_all
    list_has_any list_histogram list_indexof list_inner_product list_intersect list_kurtosis
    list_last list_mad list_max list_median list_min list_mode list_pack list_position list_prepend
    list_product list_reduce list_resize list_reverse list_reverse_sort list_select list_sem
    list_skewness list_slice list_sort list_stddev_pop list_stddev_samp list_string_agg list_sum
    list_transform list_unique list_value list_var_pop list_var_samp list_where list_zip listagg mad
    make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz
    map_concat map_contains map_contains_entry map_contains_value map_entries map_extract
    map_extract_value map_from_entries map_keys map_values max_by md5_number mean median microsecond
    millennium millisecond min_by minute mismatches month monthname multiply nanosecond nextafter
    nfc_normalize not_like_escape octet_length ord parse_dirname parse_dirpath parse_filename
    parse_path prefix printf product quantile quantile_cont quantile_disc quarter range rank_dense
    reduce regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches
    regexp_replace regexp_split_to_array regexp_split_to_table reservoir_quantile right_grapheme
    round_even roundbankers row row_to_json second sem sha1 sha256 signbit skewness split sqrt
    str_split str_split_regex strftime string_split string_split_regex string_to_array strip_accents
    strlen strpos strptime struct_concat struct_contains struct_extract struct_extract_at struct_has
    struct_insert struct_keys struct_pack struct_position struct_update struct_values subtract
    substring_grapheme suffix sum_no_overflow sumkahan time_bucket timezone timezone_hour
    timezone_minute to_base to_base64 to_binary to_centuries to_days to_decades to_hex to_hours
    to_json to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds
    to_timestamp to_weeks to_years today transaction_timestamp try_strptime typeof ucase unbin
    unicode union_extract union_tag union_value unpivot_list url_decode url_encode uuid uuidv4
    uuidv7 wavg week weekday weekofyear weighted_avg xor year yearweek try
"""
_POSTGRES = """
    acosd asind atand atan2d cosd cotd sind tand acosh asinh atanh cosh sinh tanh array_append
    array_cat array_dims array_length array_lower array_ndims array_position array_positions
    array_prepend array_remove array_replace array_reverse array_sample array_shuffle array_sort
    array_to_json array_to_string array_upper bit_count bit_length btrim casefold cardinality cbrt
    ceil clock_timestamp convert_from convert_to date_add date_bin date_subtract daterange decode
    div encode enum_first enum_last enum_range erf erfc format gamma gcd gen_random_uuid
    generate_series generate_subscripts get_bit get_byte initcap int4range int8range isempty
    isfinite jsonb_agg jsonb_array_elements jsonb_array_elements_text jsonb_array_length
    jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text jsonb_extract_path
    jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_agg jsonb_object_keys
    jsonb_path_exists jsonb_path_match jsonb_path_query jsonb_path_query_array
    jsonb_path_query_first jsonb_pretty jsonb_set jsonb_strip_nulls jsonb_to_record
    jsonb_to_recordset jsonb_typeof json_agg json_array_elements json_array_elements_text
    json_build_array json_build_object json_each json_each_text json_extract_path
    json_extract_path_text json_object_agg json_object_keys json_strip_nulls json_to_record
    json_to_recordset json_typeof json_exists json_query json_value json_scalar json_serialize
    json_arrayagg json_objectagg justify_days justify_hours justify_interval lcm lgamma lower_inc
    lower_inf make_date make_interval make_time make_timestamp make_timestamptz min_scale normalize
    num_nonnulls num_nulls numrange octet_length parse_ident pg_typeof quote_ident quote_literal
    quote_nullable range_agg range_intersect_agg range_merge regexp_count regexp_instr regexp_like
    regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table
    regexp_substr row_to_json scale sha224 sha256 sha384 sha512 statement_timestamp string_to_array
    string_to_table strpos substring timezone to_char to_date to_hex to_bin to_oct to_json to_jsonb
    to_number to_timestamp to_tsquery to_tsvector plainto_tsquery phraseto_tsquery
    websearch_to_tsquery ts_headline ts_rank ts_rank_cd transaction_timestamp trim_array trim_scale
    tsrange tstzrange tsvector_to_array unistr upper_inc upper_inf width_bucket all any some
    bernoulli system any_value text int4 int8 float8 numeric bool lower upper
"""
_MYSQL = """
    addtime adddate any_value bin bin_to_uuid bit_count bit_length convert conv convert_tz crc32
    curdate curtime date_add date_format date_sub datediff day dayname dayofmonth dayofweek
    dayofyear elt field find_in_set format from_base64 from_days from_unixtime get_format hour if
    insert instr is_uuid json_arrayagg json_array_append json_array_insert json_contains
    json_contains_path json_depth json_insert json_keys json_length json_merge_patch
    json_merge_preserve json_objectagg json_overlaps json_pretty json_quote json_remove json_replace
    json_schema_valid json_search json_set json_table json_unquote json_value json_query json_exists
    last_day lcase locate makedate maketime md5 microsecond mid minute month monthname oct
    octet_length ord period_add period_diff quarter quote rand regexp_instr regexp_like
    regexp_replace regexp_substr sec_to_time second sha sha1 sha2 soundex space std str_to_date
    strcmp subdate substring_index subtime sysdate time_format time_to_sec timediff timestampadd
    timestampdiff to_base64 to_days to_seconds truncate ucase unix_timestamp utc_date utc_time
    utc_timestamp uuid uuid_to_bin values week weekday weekofyear weight_string year yearweek median
    isnull nvl2 to_char char rtrim json_detailed json_compact json_loose natural_sort_key
"""
# A function of such a name in PostgreSQL is somebody's own.
_NOT_POSTGRES = split_words(
    """
    group_concat hex unhex ifnull nvl json_extract json_type json_valid log2 try_cast
    """
)
FUNCTIONS: dict[Dialect, frozenset[str]] = {
    "sqlite": split_words(_COMMON + _SQLITE),
    "duckdb": split_words(_COMMON + _DUCKDB),
    "postgres": split_words(_COMMON + _POSTGRES) - _NOT_POSTGRES,
    "mysql": split_words(_COMMON + _MYSQL) - {"unnest"},
}
# Functions that give a table: all that may stand in FROM with parentheses.
TABLES: dict[Dialect, frozenset[str]] = {
    "sqlite": frozenset({"json_each", "json_tree", "generate_series"}),
    "duckdb": split_words(
        "unnest generate_series range json_each json_tree generate_subscripts regexp_split_to_table"
    ),
    "postgres": split_words(
        """
            unnest generate_series generate_subscripts json_each json_each_text jsonb_each
            jsonb_each_text json_array_elements json_array_elements_text jsonb_array_elements
            jsonb_array_elements_text json_object_keys jsonb_object_keys json_to_record
            json_to_recordset jsonb_to_record jsonb_to_recordset jsonb_path_query regexp_matches
            regexp_split_to_table string_to_table
"""
    ),
    "mysql": frozenset({"json_table"}),
}
# Functions of PostgreSQL's catalogue, beside those above, that take a row: `t.f` may be one where
# `t` has no column f.
ROW_FUNCTIONS = split_words(
    """
        any_out anycompatible_out anycompatiblenonarray_out anyelement_out anyenum_out
        anynonarray_out enum_out enum_send hash_record hashenum json_agg_strict jsonb_agg_strict
        record_out record_send
"""
)
# Words that are functions without parentheses and tell of the session; a column of the name needs
# quotes. DuckDB's `user` is a column where there is one, and else the one user that DuckDB has.
_SESSION = split_words(
    "current_user session_user current_role current_catalog current_schema system_user"
)
SESSION: dict[Dialect, frozenset[str]] = {
    "sqlite": _SESSION,
    "duckdb": _SESSION,
    "postgres": _SESSION | {"user"},
    "mysql": _SESSION,
}

# Words that PostgreSQL takes in FROM for a function that gives one value: `FROM CURRENT_DATE AS x`.
VALUE_WORDS = _SESSION | split_words(
    "user current_date current_time current_timestamp localtime localtimestamp"
)

# Functions whose result is as long as an argument says, and which argument that is.
GROWING = {
    "repeat": 1,
    "lpad": 1,
    "rpad": 1,
    "space": 0,
    "zeroblob": 0,
    "array_resize": 1,
    "list_resize": 1,
    "bar": 3,
}
SERIES = frozenset({"generate_series", "range"})
REPEATING = frozenset({"repeat"})  # of these so many times what is given first
# Functions that hold all of what they are given in one value.
COLLECTING = split_words(
    """
        array_agg bitstring_agg group_concat histogram json_agg json_arrayagg json_group_array
        json_group_object json_group_structure json_object_agg json_objectagg jsonb_agg
        jsonb_object_agg list listagg map_from_entries string_agg
"""
)
# Functions that may write one character as several: where a text comes back into one of these in
# each round, it is multiplied.
AMPLIFYING = split_words(
    """
        bin encode format hex json_array json_build_array json_build_object json_object json_quote
        json_scalar quote quote_ident quote_literal quote_nullable regexp_escape to_base to_base64
        to_bin to_binary to_hex to_json to_jsonb to_oct url_encode
"""
)
# A width in their first argument makes a text of that length.
FORMATS = frozenset({"printf", "format"})
