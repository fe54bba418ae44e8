/* SPDX-License-Identifier: Apache-2.0 */
/* All functions. The first byte chooses a template, the first line is .a, the rest .b, which is also there as what it may mean: the
 * number .n, the lines .l, the JSON value .v and the map .m. */
#include "base/limits.h"
#include "template/template.h"
#include "json/json.h"

#define LINES_MAX 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const templates[] = {
    "{{ toDate .a .b }}{{ date .a (int64 (atoi .b)) }}",
    "{{ dateInZone \"2006-01-02T15:04:05Z07:00\" (int64 (atoi .b)) .a }}",
    "{{ dateModify .a (toDate \"2006\" .b) }}{{ durationRound .a }}{{ duration .b }}",
    "{{ urlJoin (urlParse .a) }}",
    "{{ urlJoin (dict \"scheme\" .a \"host\" .b \"userinfo\" .a \"path\" .b) }}",
    "{{ regexReplaceAll .a .b .a }}",
    "{{ snakecase .a }}{{ camelcase .a }}{{ kebabcase .b }}{{ title .a }}{{ swapcase .b }}{{ wrapWith 3 .a "
    ".b }}",
    "{{ b64dec .a }}{{ b32dec .a }}{{ clean .a }}{{ ext .b }}{{ base .a }}{{ trimAll .a .b }}{{ abbrevboth 5 "
    "9 .b }}",
    "{{ addf .a .b }}{{ mulf .a .b }}{{ divf .a .b }}{{ round .a 3 }}{{ int .a }}{{ toDecimal .b }}",
    "{{ genCAWithKey .a 1 .b }}",
    "{{ buildCustomCert (b64enc .a) (b64enc .b) }}",
    "{{ decryptAES .a .b }}{{ adler32sum .a }}{{ substr 1 2 .a }}",
    "{{ trunc .n .a }}{{ abbrev .n .a }}{{ abbrevboth .n 9 .a }}{{ substr .n 5 .a }}{{ splitn .a .n .a }}",
    "{{ repeat (int (min .n 99)) .a }}{{ indent (int (min .n 99)) .a }}{{ nindent 2 .a }}{{ cat .a .n .v }}",
    "{{ join .a .l }}{{ splitList .a .b }}{{ split .a .b }}{{ replace .a .b .b }}{{ plural .a .b (int .n) }}",
    "{{ contains .a .b }}{{ hasPrefix .a .b }}{{ hasSuffix .a .b }}{{ trimPrefix .a .b }}{{ trimSuffix .a .b "
    "}}",
    "{{ trim .a }}{{ nospace .a }}{{ initials .a }}{{ quote .v .a }}{{ squote .v .a }}{{ lower .a }}{{ upper "
    ".a }}",
    "{{ untitle .a }}{{ toString .v }}{{ toStrings .v }}{{ shuffle .a }}{{ wrap 5 .a }}{{ join \"-\" .v }}",
    "{{ sortAlpha .v }}{{ sortAlpha .l }}{{ randAlphaNum 3 }}{{ randAlpha 3 }}{{ randAscii 3 }}{{ "
    "randNumeric 3 }}",
    "{{ printf .a .n }}{{ printf .a .b }}{{ printf .a .v }}{{ printf .a }}{{ printf .a .n .b .v }}",
    "{{ print .v .n .a }}{{ println .v }}{{ html .v .a }}{{ js .a .v }}{{ urlquery .b }}{{ len .v }}",
    "{{ first .v }}{{ rest .v }}{{ last .v }}{{ initial .v }}{{ reverse .v }}{{ uniq .v }}{{ compact .v }}",
    "{{ has .a .v }}{{ has .n .v }}{{ without .v .a }}{{ append .v .a }}{{ prepend .v .n }}{{ concat .v .l "
    "}}",
    "{{ chunk (int .n) .v }}{{ chunk (int .n) .l }}",
    "{{ slice .v }}{{ slice .v 1 }}{{ slice .v 1 (int .n) }}{{ slice .a 1 (int .n) }}",
    "{{ mustSlice .v (int .n) }}",
    "{{ index .v (int .n) }}",
    "{{ index .v .a }}{{ range $i, $e := .v }}{{ $i }}={{ kindOf $e }}{{ typeOf $e }},{{ end }}",
    "{{ mustFirst .v }}{{ mustRest .v }}{{ mustLast .v }}{{ mustInitial .v }}{{ mustReverse .v }}{{ mustUniq "
    ".v }}"
    "{{ mustCompact .v }}{{ mustHas .a .v }}{{ mustWithout .v .a }}{{ mustAppend .v .a }}{{ mustPrepend .v "
    ".a }}",
    "{{ keys .m | sortAlpha }}{{ values .m }}{{ get .m .a }}{{ hasKey .m .a }}{{ pick .m .a }}{{ omit .m .a "
    "}}",
    "{{ set .m .a .n }}{{ unset .m .b }}{{ pluck .a .m .m }}{{ deepCopy .m }}{{ dict .a .b .b }}",
    "{{ dig .a \"x\" \"none\" .m }}{{ dig .a \"none\" .m }}",
    "{{ merge (dict \"a\" (dict \"b\" 1)) .m }}{{ mergeOverwrite (dict \"a\" (dict \"b\" 1)) .m }}{{ "
    "mustMerge (dict) .m }}",
    "{{ mergeOverwrite .m (fromJson .b) (dict .a .v) }}{{ mustMergeOverwrite .m .m }}{{ merge .m (deepCopy "
    ".m) }}",
    "{{ .b | fromYaml | toYaml }}{{ .b | fromYamlArray | toJson }}{{ toYamlPretty (fromYaml .b) }}",
    "{{ .b | fromJson | toPrettyJson }}{{ .b | fromJsonArray | toRawJson }}{{ mustToPrettyJson .v }}{{ "
    "mustToJson .v }}",
    "{{ .b | fromToml | toToml }}{{ toToml .m }}{{ toYaml .v }}{{ toJson .v }}{{ mustToYaml .v }}{{ "
    "mustToToml .m }}",
    "{{ mustFromJson .b }}{{ mustToRawJson .v }}{{ b64enc .a }}{{ b32enc .a }}",
    "{{ add .n 1 .v }}{{ sub .n .v }}{{ mul .n .v }}{{ add1 .v }}{{ max .n .v }}{{ min .n .v }}{{ biggest .n "
    "3 }}",
    "{{ div .v .n }}{{ mod .v .n }}",
    "{{ div .n (int64 .a) }}{{ mod .n (atoi .a) }}",
    "{{ floor .v }}{{ ceil .v }}{{ round .v (int .n) }}{{ round .v 1 .3 }}{{ subf .v .a }}{{ maxf .v .n }}{{ "
    "minf .v .n }}"
    "{{ add1f .v }}{{ float64 .v }}{{ int64 .v }}{{ int .v }}",
    "{{ range until (int (min .n 99)) }}{{ . }}{{ end }}{{ seq .n 2 9 }}{{ seq (int .n) }}",
    "{{ untilStep 1 (int (min .n 99)) (atoi .a) }}{{ randInt 1 (int .n) }}",
    "{{ default .a .v }}{{ empty .v }}{{ coalesce .v .a }}{{ all .v .a }}{{ any .v .n }}{{ ternary .a .b "
    "(empty .v) }}",
    "{{ deepEqual .v .m }}{{ deepEqual .v (deepCopy .v) }}{{ kindIs .a .v }}{{ typeIs .a .v }}{{ typeIsLike "
    ".a .v }}",
    "{{ eq .v .n }}{{ ne .v .a }}",
    "{{ lt .v .n }}{{ le .v .n }}{{ gt .v .a }}",
    "{{ eq .v .v .n .a }}{{ and .v .n }}{{ or .v .n }}{{ not .v }}",
    "{{ regexMatch .a .b }}{{ regexFind .a .b }}{{ regexFindAll .a .b (int .n) }}{{ regexSplit .a .b (int "
    ".n) }}",
    "{{ mustRegexMatch .a .b }}{{ mustRegexFind .a .b }}{{ mustRegexFindAll .a .b -1 }}{{ mustRegexSplit .a "
    ".b -1 }}",
    "{{ regexReplaceAllLiteral .a .b .a }}{{ mustRegexReplaceAll .a .b .b }}{{ mustRegexReplaceAllLiteral .a "
    ".b .b }}"
    "{{ regexQuoteMeta .b }}",
    "{{ semverCompare .a .b }}",
    "{{ with semver .a }}{{ .Major }}{{ .Prerelease }}{{ .Metadata }}{{ .Original }}{{ .IncMajor }}{{ "
    ".IncMinor }}"
    "{{ .IncPatch }}{{ .Compare (semver $.b) }}{{ .LessThan . }}{{ .GreaterThanEqual . }}{{ .String }}{{ end "
    "}}",
    "{{ with toDate .a .b }}{{ .Add 5 }}{{ .AddDate (int $.n) 1 1 }}{{ .ISOWeek }}{{ .YearDay }}{{ .Weekday "
    "}}{{ .GoString }}"
    "{{ .Format $.a }}{{ .UTC }}{{ .UnixNano }}{{ .Round 1000 }}{{ .Truncate 7 }}{{ .Month }}{{ .ZoneBounds "
    "}}{{ end }}",
    "{{ with toDate .a .b }}{{ .Sub (toDate \"2006\" $.b) }}{{ .MarshalJSON }}{{ .MarshalText }}{{ .Clock "
    "}}{{ .Zone }}"
    "{{ .Before now }}{{ unixEpoch . }}{{ htmlDate . }}{{ htmlDateInZone . $.b }}{{ ago . }}{{ end }}",
    "{{ mustToDate .a .b }}",
    "{{ mustDateModify .a (now) }}",
    "{{ dateInZone .a .n .b }}{{ date .a .n }}{{ date .a .v }}{{ htmlDate .v }}{{ durationRound .v }}{{ "
    "duration .v }}",
    "{{ dir .a }}{{ isAbs .a }}{{ osBase .a }}{{ osClean .a }}{{ osDir .a }}{{ osExt .a }}{{ osIsAbs .a }}{{ "
    "urlParse .b }}",
    "{{ urlJoin .m }}",
    "{{ fail .a }}",
    "{{ env .a }}{{ expandenv .b }}{{ getHostByName .a }}{{ hello }}{{ uuidv4 }}{{ randBytes 3 }}",
    "{{ sha1sum .a }}{{ sha256sum .a }}{{ sha512sum .b }}{{ decryptAES .b (encryptAES .b .a) }}",
    "{{ genPrivateKey (printf \"%s\" .a | replace \"rsa\" \"\" | replace \"dsa\" \"ecdsa\") }}",
    "{{ $k := genPrivateKey \"ed25519\" }}{{ $c := genCAWithKey .a 1 $k }}"
    "{{ (genSignedCertWithKey .b .l .l (int .n) $c $k).Cert }}{{ (genSelfSignedCertWithKey .b (list .a) .l 1 "
    "$k).Cert }}",
    "{{ $k := genPrivateKey \"ecdsa\" }}{{ (genSelfSignedCertWithKey .a (list .b) (list .a) (int .n) "
    "$k).Cert | b64dec }}",
    "{{ tpl .b .m }}",
    "{{ range $k, $v := .m }}{{ $k }}{{ $v }}{{ end }}{{ with .v }}{{ . }}{{ end }}{{ toYaml .m | nindent 4 "
    "}}",
    "{{ (urlParse .a).host }}{{ required .a .v }}{{ required .a .b }}{{ splitList \",\" .b | compact | "
    "toJson }}",
};

static struct value make_dot(struct arena *a, struct str first, struct str rest)
{
    struct value dot = value_new_map(a), json, map = value_new_map(a),
                 *lines = ARENA_ARRAY(a, struct value, LINES_MAX);
    struct str text = rest, line;
    int64_t number;
    uint32_t n = 0;

    if (json_parse(a, rest, NULL, &json, NULL) < 0)
        json = VALUE_NONE;
    if (!str_to_int64(rest, &number))
        number = (int64_t)rest.n;
    while (n < LINES_MAX && str_split(&text, '\n', &line))
        lines[n++] = value_from_str(line);
    value_set(map, first, value_from_str(rest));
    value_setz(dot, "a", value_from_str(first));
    value_setz(dot, "b", value_from_str(rest));
    value_setz(dot, "n", value_from_int(number));
    value_setz(dot, "l", value_from_list(lines, n));
    value_setz(dot, "v", json);
    value_setz(dot, "m", value_is_map(json) ? json : map);
    return dot;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = { (const char *)data, size }, a;
    CLEANUP(tpl_set_free) struct tpl_set *set = NULL;
    CLEANUP(tpl_run_free) struct tpl_run *run = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    const struct tpl_env env = { .steps_max = 1000000, .memory_max = 8 * MIB, .output_max = MIB };

    if (size < 1 || size > 4096)
        return 0;
    set = tpl_set_new();
    if (tpl_set_add(set, STR("c/templates/x"), str_from(templates[data[0] % ARRAY_SIZE(templates)]), NULL) <
        0)
        return 0;
    rest = str_sub(rest, 1, rest.n);
    str_split(&rest, '\n', &a);
    run = tpl_run_new(set, &env);
    rest.p = rest.p ? rest.p : "";
    IGNORE_ERROR(tpl_render(run, STR("c/templates/x"), make_dot(tpl_run_arena(run), a, rest), &out, NULL));
    return 0;
}
