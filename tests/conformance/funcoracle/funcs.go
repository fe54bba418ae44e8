// SPDX-License-Identifier: Apache-2.0
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
)

const values = `{"s":"text","empty":"","n":3,"zero":0,"f":1.5,"big":1000000,"yes":true,"no":false,"null":null,` +
	`"list":["b","a",1,null,"b"],"nums":[3,1,2],"none_list":[],"map":{"a":1,"b":{"c":"x"}},"none_map":{},"ports":[80,443],` +
	`"maps":[{"name":"a"},{"name":"b"}],"text":"line one\nline two\n","word":"Hello wOrld of http2Server"}`

// Expressions for the parameters of a function, by kind.
var pools = map[byte][]string{
	's': {`""`, `"a"`, `"Hello World"`, `"foo-bar_baz qux"`, `"é😀 xÀ"`, `"  sp ace\t"`, `"a,b,,c"`, `"10"`, `"FirstName HTTPServer2xx"`, `"x\ny\n"`, `"a.b/c/../d.tar.gz"`, `(b64dec "Yf9i")`, `.Values.s`, `.Values.none`, `5`, `"aGVsbG8="`},
	'i': {`0`, `1`, `2`, `3`, `5`, `-1`, `-4`, `20`, `(int 4)`, `.Values.n`, `"1"`, `(int64 2)`},
	'*': {`""`, `"a"`, `"10"`, `"010"`, `"1.0"`, `"1.5"`, `"0x1f"`, `"-3"`, `"1_000"`, `"true"`, `0`, `1`, `-7`, `3.7`, `-2.5`, `true`, `false`, `nil`, `.Values.none`, `.Values.null`, `(list)`, `(list 1 "a" nil)`, `(dict)`, `(dict "a" 1)`,
		`.Values.s`, `.Values.n`, `.Values.f`, `.Values.big`, `.Values.list`, `.Values.map`, `.Values.none_list`, `(int64 3)`, `(splitList "," "b,a")`, `(until 3)`, `(b64dec "Yf9i")`, `(semver "v1.2.3-rc.1+x")`, `(split "," "a,b")`, `.Values`, `9223372036854775807`, `1e300`, `'x'`, `(toDate "2006-01-02" "2020-02-03")`, `(chunk 2 (until 3))`, `(index .Values.list 0)`, `(float64 2)`},
	'm': {`(dict)`, `(dict "a" 1)`, `(dict "a" (dict "b" 2) "x" "")`, `.Values.map`, `.Values`, `.Values.none`, `.Values.none_map`, `"s"`, `(dict "k" nil)`, `(dict "a" (list 1 2))`, `(dict "a" "" "b" false)`, `(dict "b" (dict "c" "y" "d" 1))`, `(dict "x" (semver "1.2.3"))`},
	'k': {`"a"`, `"b"`, `"x"`, `""`, `"none"`, `1`, `.Values.none`},
	'l': {`(list)`, `(list 1 2 3)`, `(list "a" "b" "a")`, `(list 1 1.0 "1" nil nil)`, `(list (dict "a" 1) (dict "a" 1) (list 1) (list 1))`, `.Values.list`, `.Values.nums`, `.Values.ports`, `.Values.none`, `nil`, `"str"`, `(until 4)`, `(splitList "," "x,y,x")`, `.Values.map`, `5`, `.Values.maps`, `(list "" 0 false nil "a")`, `(list (list 1) 2)`, `(rest (list 1))`, `(rest (list))`},
	'r': {`"a+"`, `"^[a-z]+$"`, `"(a)(b)?"`, `"(?P<n>[a-z])"`, `"[0-9]+"`, `"("`, `""`, `"é"`, `"\\s+"`, `"\\x60("`, `"x*"`, `"[[:upper:]]"`, `"."`},
	't': {`"ab xab 12"`, `"aaa"`, `"héllo wörld"`, `""`, `"a1b22c333"`, `(b64dec "Yf9i")`, `"A B\tC"`},
	'p': {`"X"`, `"$1"`, `"${1}y"`, `"$1y"`, `"$n"`, `"${n}"`, `"$$"`, `"$"`, `"${"`, `"[$0]"`, `"$x${2}"`, `"é$9"`},
	'b': {`true`, `false`, `.Values.none`, `.Values.yes`, `1`, `"true"`},
	'f': {`.5`, `0.7`, `1`, `.Values.f`},
	'L': {`"2006-01-02"`, `"2006-01-02T15:04:05Z07:00"`, `"Mon Jan _2 15:04:05 2006"`, `"Monday, 02-Jan-06 15:04:05 MST"`, `"3:04PM"`, `"15:04:05.000"`, `"Jan 2 2006 at 03:04pm (MST -0700)"`, `"002 __2 .999999 05"`, `"2006 06 1 01 Jan January Z0700 Z07 -07 -07:00:00 pm"`, `""`, `"no date"`, `"é2006"`},
	'T': {`(int64 0)`, `(int64 1234567890)`, `(int 1700000000)`, `(int64 -62135596800)`, `(int64 4102444800)`, `(int64 -1)`, `(toDate "2006-01-02" "2019-07-04")`, `(int64 1593600000)`, `(int64 253402300800)`, `(int64 -99999999999)`},
	'Z': {`"UTC"`, `""`, `"Europe/Berlin"`, `"America/New_York"`, `"Asia/Kolkata"`, `"Nowhere/None"`, `"../etc/passwd"`, `"Australia/Lord_Howe"`, `"Local"`, `"Pacific/Apia"`, `"Etc/GMT+5"`, `"America/Sao_Paulo"`, `"Africa/Casablanca"`},
	'D': {`"1h"`, `"-1.5h"`, `"2h10m5s"`, `"90s"`, `"bad"`, `""`, `"1h15m30.918273645s"`, `"24h"`, `"100ms"`, `"8760h1ns"`, `"800h"`, `"1µs"`, `"0"`, `"+5m"`, `"1"`, `"10000000h"`},
	'u': {`"http://user:pa%20ss@host:8080/p%20a/th?q=1&r=2#frag"`, `"mailto:a@b.c"`, `"/rel/path"`, `"//host/p"`, `":"`, `"http://[::1]:80/"`, `"http://a:b:c/"`, `"http://h/%zz"`, `"a:b/c"`, `"1:2"`, `"HTTP://H"`, `"http://h?"`, `"x?y?"`, `"http://h/#a%20b"`, `"http://é/ü"`, `"http://a b/"`, `""`, `"*"`, `"http://h\n"`, `"http://u@/"`, `"file:///a"`, `"http://[fe80::1%25eth0]/"`, `"http://[1.2.3.4]/"`, `"http://h/a;b,c=d"`, `"#%zz"`, `"http://u:@h"`},
	'U': {`(dict "scheme" "http" "host" "h" "path" "/p a")`, `(dict)`, `(dict "path" "a:b")`, `(dict "scheme" 1)`, `(dict "host" nil)`, `(dict "scheme" "s" "opaque" "o" "query" "q" "fragment" "f g")`, `(dict "host" "h" "path" "p" "userinfo" "u:p w")`, `(dict "scheme" "http" "userinfo" "a@b" "host" "x y")`, `(dict "userinfo" "u:p@:")`, `(urlParse "http://user:pw@host:80/p?q#f")`, `(dict "host" "h" "userinfo" "a/b")`, `(dict "path" "*")`},
	'c': {`">=1.2.0"`, `"^1.2"`, `"~1"`, `"1.x || >=2.5"`, `"bad"`, `">=1.22.0-0"`, `""`, `"1.2 - 1.4"`},
	'v': {`"1.2.3"`, `"v1.33.4-gke.1"`, `"2"`, `"x"`, `""`, `"1.4.5"`, `"0.1.0-alpha"`},
	'y': {`"a: 1\nb: [x, y]\n"`, `""`, `"null"`, `"- a\n- b"`, `"5"`, `"a: b: c"`, `"a: &x 1\nb: *x"`, `"{"`, `"true"`, `"str"`, `"1.5"`, `"---\na: 1\n---\nb: 2"`, `"a:\n  - {b: 1000000}\n"`},
	'j': {`"{\"a\":1,\"b\":[true,null,\"x\"]}"`, `""`, `"null"`, `"[1,2]"`, `"5"`, `"{"`, `"\"s\""`, `"x"`, `"{\"a\":1e6}"`, `"[{\"a\":\"\\u003c\"}]"`, `"{} x"`, `"true"`},
	'o': {`"a = 1\nb = [1, 2]\n[c]\nd = \"x\""`, `""`, `"a ="`, `"a = 1.5"`, `"[a]\nb = true\n[[c]]\nd = 1\n[[c]]\nd = 2"`, `"a = 1\na = 2"`, `"t = 2020-01-02T03:04:05Z"`, `"a.b = 1"`, `"x = 0x1F"`, `"x = 'lit'"`},
	'w': {`"map[string]interface {}"`, `"string"`, `"int"`, `"float64"`, `"semver.Version"`, `"slice"`, `"map"`, `"invalid"`, `"bool"`},
	'q': {`"YWJj"`, `"YWI="`, `"Y"`, `"YW=="`, `"!!!"`, `""`, `"YWJj\n"`, `"MFRGG==="`, `"MFRGG"`, `"mfrgg==="`, `"////"`},
	'P': {`"a"`, `"/"`, `""`, `"/a/b/"`, `"../a/../b"`, `"a//b/./c"`, `"/../x"`, `"a/b.c.d"`, `".hid"`, `"a/.."`, `"a.b/c"`, `"é/ü.x"`, `"//a"`, `"a/../../b"`},
}

// Parameters by letter of a pool; '+' repeats the last one up to three times.
var signatures = map[string]string{
	"abbrev": "is", "abbrevboth": "iis", "camelcase": "s", "cat": "*+", "contains": "ss", "hasPrefix": "ss", "hasSuffix": "ss", "hello": "", "indent": "is", "initials": "s", "join": "s*", "kebabcase": "s", "lower": "s", "nindent": "is", "nospace": "s",
	"plural": "ssi", "quote": "*+", "repeat": "is", "replace": "sss", "snakecase": "s", "split": "ss", "splitList": "ss", "splitn": "sis", "squote": "*+", "substr": "iis", "swapcase": "s", "title": "s", "toString": "*", "toStrings": "*", "trim": "s", "trimAll": "ss", "trimPrefix": "ss",
	"trimSuffix": "ss", "trimall": "ss", "trunc": "is", "untitle": "s", "upper": "s", "wrap": "is", "wrapWith": "iss",
	"append": "l*", "chunk": "il", "compact": "l", "concat": "l+", "first": "l", "has": "*l", "initial": "l", "last": "l", "list": "*+", "mustAppend": "l*", "mustChunk": "il", "mustCompact": "l", "mustFirst": "l", "mustHas": "*l", "mustInitial": "l", "mustLast": "l", "mustPrepend": "l*", "mustPush": "l*", "mustRest": "l",
	"mustReverse": "l", "mustSlice": "l*+", "mustUniq": "l", "mustWithout": "l*+", "prepend": "l*", "push": "l*", "rest": "l", "reverse": "l", "slice": "li+", "sortAlpha": "l", "tuple": "*+", "uniq": "l", "without": "l*+",
	"deepCopy": "*", "dict": "*+", "dig": "kk*m", "get": "mk", "hasKey": "mk", "keys": "m", "merge": "mm+", "mergeOverwrite": "mm+", "mustDeepCopy": "*", "mustMerge": "mm+", "mustMergeOverwrite": "mm+", "omit": "mk+", "pick": "mk+", "pluck": "km+", "set": "mk*", "unset": "mk", "values": "m",
	"all": "*+", "any": "*+", "coalesce": "*+", "deepEqual": "**", "default": "**", "empty": "*", "kindIs": "w*", "kindOf": "*", "ternary": "**b", "typeIs": "w*", "typeIsLike": "w*", "typeOf": "*",
	"add": "*+", "add1": "*", "add1f": "*", "addf": "*+", "atoi": "s", "biggest": "**+", "ceil": "*", "div": "**", "divf": "**+", "float64": "*", "floor": "*", "int": "*", "int64": "*", "max": "**+", "maxf": "**+", "min": "**+", "minf": "**+", "mod": "**", "mul": "**+", "mulf": "**+", "round": "*if", "seq": "iii+", "sub": "**",
	"subf": "**+", "toDecimal": "*", "until": "i", "untilStep": "iii",
	"mustRegexFind": "rt", "mustRegexFindAll": "rti", "mustRegexMatch": "rt", "mustRegexReplaceAll": "rtp", "mustRegexReplaceAllLiteral": "rtp", "mustRegexSplit": "rti", "regexFind": "rt", "regexFindAll": "rti", "regexMatch": "rt", "regexQuoteMeta": "s", "regexReplaceAll": "rtp", "regexReplaceAllLiteral": "rtp", "regexSplit": "rti",
	"b32dec": "q", "b32enc": "s", "b64dec": "q", "b64enc": "s", "fromJson": "j", "fromJsonArray": "j", "fromToml": "o", "fromYaml": "y", "fromYamlArray": "y", "mustFromJson": "j", "mustToJson": "*", "mustToPrettyJson": "*", "mustToRawJson": "*", "mustToToml": "*", "mustToYaml": "*", "toJson": "*", "toPrettyJson": "*", "toRawJson": "*",
	"toToml": "*", "toYaml": "*", "toYamlPretty": "*",
	"base": "P", "clean": "P", "dir": "P", "ext": "P", "isAbs": "P", "osBase": "P", "osClean": "P", "osDir": "P", "osExt": "P", "osIsAbs": "P", "semver": "v", "semverCompare": "cv", "urlJoin": "U", "urlParse": "u",
	"date": "LT", "dateInZone": "LTZ", "date_in_zone": "LTZ", "dateModify": "DT", "date_modify": "DT", "duration": "*", "durationRound": "*", "htmlDate": "T", "htmlDateInZone": "TZ", "mustDateModify": "DT", "must_date_modify": "DT", "mustToDate": "LL", "toDate": "LL", "unixEpoch": "T",
	"adler32sum": "s", "sha1sum": "s", "sha256sum": "s", "sha512sum": "s", "derivePassword": "", "decryptAES": "sq", "encryptAES": "",
	"buildCustomCert": "qq", "genPrivateKey": "", "htpasswd": "", "getHostByName": "s",
}

// Cases that the pools do not reach, and those of the functions whose answers are random.
var extra = []string{
	`{{ durationRound "2h10m5s" }}`, `{{ durationRound (int64 3600000000001) }}`, `{{ range $d := list "1h" "24h" "25h" "721h" "8761h" "61s" "1ms" "-90m" }}{{ durationRound $d }} {{ end }}`,
	`{{ range $s := list "95" "3600" "-5" "x" "1e3" }}{{ duration $s }} {{ end }}{{ duration (int64 86461) }}`,
	`{{ derivePassword 1 "long" "password" "user" "example.com" }}`, `{{ derivePassword 2 "maximum" "password" "user" "example.com" }}`, `{{ derivePassword 1 "pin" "p" "u" "s" }}`, `{{ derivePassword 1 "nope" "p" "u" "s" }}`,
	`{{ derivePassword -1 "long" "p" "u" "s" }}`, `{{ derivePassword 1 "basic" "" "" "" }}{{ derivePassword 1 "medium" "é" "ü" "x" }}{{ derivePassword 4294967295 "short" "a" "b" "c" }}`,
	`{{ htpasswd "a:b" "x" }}`, `{{ genPrivateKey "nope" }}`, `{{ encryptAES "key" "" }}`, `{{ decryptAES "key" "" }}`, `{{ decryptAES "key" "YQ==" }}`, `{{ decryptAES "key" (encryptAES "key" "plain text of some length") }}`,
	`{{ decryptAES "secretkey" "30tEfhuJSVRhpG97XCuWgz2okj7L8vQ1s6V9zVUPeDQ=" }}`, `{{ decryptAES "k" "AAAAAAAAAAAAAAAAAAAAAA==" }}`, `{{ decryptAES "k" "AAAAAAAAAAAAAAAAAAAAAAA=" }}`,
	`{{ genSelfSignedCert "cn" (list "bad") nil 1 }}`, `{{ genSelfSignedCert "cn" (list 1) (list) 1 }}`, `{{ genSelfSignedCert "cn" nil (list 1) 1 }}`, `{{ genCAWithKey "cn" 1 "nope" }}`, `{{ genSignedCert "cn" nil nil 1 .Values }}`,
	`{{ genSelfSignedCertWithKey "cn" nil nil 1 "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----" }}`, `{{ genCAWithKey "cn" 1 "-----BEGIN X PRIVATE KEY-----\nAA==\n-----END X PRIVATE KEY-----" }}`,
	`{{ buildCustomCert "x" "y" }}`, `{{ buildCustomCert "eA==" "y" }}`, `{{ buildCustomCert "eA==" "eA==" }}`,
	`{{ randAlpha 0 }}{{ randAlphaNum -1 }}{{ len (randAlphaNum 12) }}{{ len (randAscii 3) }}{{ regexMatch "^[0-9]{5}$" (randNumeric 5) }}{{ len (uuidv4) }}{{ len (b64dec (randBytes 7)) }}{{ randBytes 0 }}{{ randInt 3 4 }}`,
	`{{ randInt 3 3 }}`, `{{ randBytes -1 }}`, `{{ len (shuffle "héllo") }}{{ shuffle "" }}`, `{{ regexMatch "^\\$2a\\$10\\$[./A-Za-z0-9]{53}$" (bcrypt "x") }}`, `{{ hasPrefix "u:$2a$10$" (htpasswd "u" "p") }}`, `{{ bcrypt (repeat 73 "x") }}`,
	`{{ $c := genCA "ca" 365 }}{{ hasPrefix "-----BEGIN CERTIFICATE-----\n" $c.Cert }}{{ hasPrefix "-----BEGIN RSA PRIVATE KEY-----\n" $c.Key }}{{ typeOf $c }}{{ kindOf $c }}`,
	`{{ range $t := list "ecdsa" "ed25519" }}{{ genPrivateKey $t | regexFind "-----BEGIN .*-----" }}{{ end }}`,
	`{{ $v := semver "v1.2.3-rc.1+meta" }}{{ $v.Major }} {{ $v.Minor }} {{ $v.Patch }} {{ $v.Prerelease }} {{ $v.Metadata }} {{ $v.Original }} {{ $v }} {{ $v.String }} {{ printf "%v %s" $v $v }} {{ toJson $v }} {{ $v.Compare (semver "1.2.3") }}{{ $v.Equal (semver "1.2.3-rc.1") }}{{ $v.LessThan $v }}`,
	`{{ (semver "1.2.3").IncMinor }}{{ (semver "1.2.3").IncMajor }}{{ (semver "1.2.3").IncPatch }}`, `{{ (semver "1.2.3").Nope }}`, `{{ (semver "1.2.3").major }}`, `{{ printf "%T" (semver "1.2.3") }}`, `{{ (semver "1.2.3").GreaterThan nil }}`,
	`{{ $t := toDate "2006-01-02 15:04:05" "2020-02-29 13:14:15" }}{{ $t }} {{ $t.Year }} {{ $t.Month }} {{ $t.Day }} {{ $t.Hour }} {{ $t.Minute }} {{ $t.Second }} {{ $t.Unix }} {{ $t.Weekday }} {{ $t.YearDay }} {{ $t.Format "Jan 2" }} {{ $t.UTC }} {{ $t.IsZero }} {{ $t.UnixNano }} {{ printf "%T %v" $t $t }} {{ toJson $t }} {{ kindOf $t }}`,
	`{{ $t := toDate "2006-01-02" "2020-01-31" }}{{ $t.AddDate 0 1 0 }} {{ ($t.Sub (toDate "2006-01-02" "2020-01-01")).Hours }} {{ $t.Before $t }} {{ $t.After (toDate "2006" "2019") }} {{ $t.Equal $t }} {{ $t.Nanosecond }} {{ $t.Sub (toDate "2006" "2019") }}`,
	`{{ toDate "2006-01-02" "bad" }}`, `{{ mustToDate "2006-01-02" "bad" }}`, `{{ mustToDate "2006-01-02" "2020-13-01" }}`, `{{ mustToDate "2006-01-02" "2020-02-30" }}`, `{{ mustToDate "2006-01-02" "2020-01-02x" }}`, `{{ mustToDate "15:04" "25:00" }}`, `{{ mustToDate "2006-01-02T15:04:05Z07:00" "2020-01-02T03:04:05+02:00" }}`,
	`{{ mustToDate "2006-01-02T15:04:05Z07:00" "2020-01-02T03:04:05.123Z" }}`, `{{ mustToDate "Mon, 02 Jan 2006 15:04:05 MST" "Tue, 10 Nov 2009 23:00:00 UTC" }}`, `{{ mustToDate "Mon Jan _2 15:04:05 2006" "Tue Nov  3 23:00:00 2009" }}`, `{{ mustToDate "3:04PM" "11:15am" }}`, `{{ mustToDate "3:04PM" "11:15xm" }}`, `{{ mustToDate "02 Jan 06 15:04 -0700" "02 Jan 69 15:04 -0330" }}`, `{{ mustToDate "2006-002" "2020-366" }}`, `{{ mustToDate "January 2, 2006" "march 5, 2021" }}`, `{{ mustToDate "2006-01-02 15:04:05 MST" "2020-01-02 15:04:05 CEST" }}`,
	`{{ mustToDate "2006-01-02 15:04:05.000" "2020-01-02 15:04:05.12" }}`, `{{ mustToDate "2006-01-02 15:04:05 MST" "2020-01-02 15:04:05 GMT+3" }}`, `{{ mustToDate "" "x" }}`, `{{ mustToDate "2006" "20" }}`, `{{ mustToDate "Jan" "Foo" }}`,
	`{{ date "2006" "not a date" | len }}`, `{{ date "2006-01-02" .Values.n | len }}`, `{{ ago (now) }}`, `{{ dateModify "1h" "x" }}`, `{{ mustDateModify "bad" (now) }}`, `{{ unixEpoch 5 }}`, `{{ typeOf (now) }}`,
	`{{ $d := dict "a" 1 }}{{ $_ := set $d "b" 2 }}{{ unset $d "a" }}{{ $d }}`, `{{ set .Values.nope "a" 1 }}`, `{{ $d := dict "x" (dict "y" 1) }}{{ $c := deepCopy $d }}{{ $_ := set $c.x "y" 2 }}{{ $d }}{{ $c }}`,
	`{{ $d := dict "a" (dict "b" 1) }}{{ $s := dict "a" (dict "c" 2) }}{{ $_ := merge $d $s }}{{ $_ := set $s.a "c" 3 }}{{ $d }}`, `{{ $d := dict }}{{ $s := dict "a" (dict "c" 2) }}{{ $_ := merge $d $s }}{{ $_ := set $s.a "c" 3 }}{{ $d }}`,
	`{{ merge (dict "a" false "b" 0 "c" "" "d" (list)) (dict "a" true "b" 5 "c" "x" "d" (list 1)) }}`, `{{ mergeOverwrite (dict "a" 1 "l" (list 1)) (dict "a" nil "l" (list)) }}`, `{{ merge (dict "a" 1 "l" (list 1)) (dict "a" (dict) "l" (list 2 3)) }}`, `{{ mergeOverwrite (dict "a" (dict "x" 1 "y" 2)) (dict "a" (dict "x" "") ) (dict "a" 5) }}`,
	`{{ $d := dict "a" 1 }}{{ merge $d $d }}{{ mergeOverwrite $d $d }}`, `{{ merge (dict "a" (semver "1.2.3")) (dict "a" (dict)) }}`, `{{ mustMerge (dict "a" (semver "1.2.3")) (dict "a" (dict)) }}`, `{{ mustMergeOverwrite (dict "a" (semver "1.2.3")) (dict "a" (dict)) }}`,
	`{{ keys .Values.map (dict "z" 1) | sortAlpha }}`, `{{ values (dict "a" 1 "b" 2) | sortAlpha }}`, `{{ omit .Values "list" "map" "maps" | toJson }}`, `{{ pick .Values "s" "n" "nope" }}`, `{{ dig "a" "b" "z" .Values }}`, `{{ dig "map" "b" "c" "z" .Values.AsMap }}`, `{{ dig "a" (dict) }}`,
	`{{ seq 5 }}|{{ seq -3 }}|{{ seq 0 }}|{{ seq 2 5 }}|{{ seq 5 2 }}|{{ seq 0 2 10 }}|{{ seq 10 -3 0 }}|{{ seq 0 -2 10 }}|{{ seq 10 3 0 }}|{{ seq }}|{{ seq 1 2 3 4 }}|{{ seq 1 0 5 }}`, `{{ untilStep 0 10 3 }}{{ untilStep 10 0 -4 }}{{ untilStep 0 10 0 }}{{ untilStep 3 3 1 }}{{ until -3 }}{{ printf "%T" (until 2) }}`,
	`{{ round 2.5 0 }} {{ round -2.4 0 }} {{ round 123.5555 3 }} {{ round 123.5555 3 0.9 }} {{ round "1.005" 2 }} {{ round 15 -1 }} {{ round 1e20 2 }} {{ round 0.1 25 }} {{ round 1.5 400 }}`, `{{ addf 0.1 0.2 }} {{ subf 1 0.9 }} {{ mulf 1.1 1.1 1.1 }} {{ divf 1 3 }} {{ divf 10 4 2 }} {{ add1f 0.1 }} {{ addf }} {{ mulf 1e200 1e200 }} {{ addf 1e300 1e-300 }} {{ divf 1 1e20 }}`, `{{ divf 1 0 }}`, `{{ addf "NaN" 1 }}`, `{{ addf "Inf" 1 }}`, `{{ maxf 1 "NaN" }} {{ minf "-Inf" 2 }} {{ maxf -0.0 0 }}`,
	`{{ div 7 2 }} {{ div -7 2 }} {{ mod -7 2 }} {{ mul 3 "0x10" 2.9 }} {{ add 9223372036854775807 1 }} {{ sub 1 "a" }} {{ max 1 2.9 "3" }} {{ min }}`, `{{ div 1 0 }}`, `{{ mod 1 0 }}`, `{{ atoi "99999999999999999999" }} {{ atoi "-5" }} {{ atoi "0x10" }} {{ atoi "1.0" }} {{ int "99999999999999999999" }} {{ int 1e300 }} {{ int64 "1.00" }} {{ float64 "1e400" }} {{ toDecimal "777" }} {{ toDecimal 10 }} {{ toDecimal "9" }}`,
	`{{ slice (list 1 2 3 4) 1 3 }} {{ slice (list 1 2 3) 1 }} {{ slice (list 1 2) }} {{ slice (list) 0 1 }} {{ slice (splitList "," "a,b,c") 0 2 | printf "%T" }}`, `{{ slice (list 1 2) 3 4 }}`, `{{ slice (list 1 2) -1 }}`, `{{ slice "abc" 0 1 }}`, `{{ chunk 3 (until 7) }} {{ chunk 3 (list) }} {{ printf "%T" (chunk 2 (list 1)) }}`, `{{ chunk 0 (list 1) }}`, `{{ chunk -1 (list 1 2) }}`, `{{ chunk -2 (list 1 2 3 4 5) }}`,
	`{{ toYaml (rest (list)) }} {{ toJson (rest (list)) }} {{ toJson (list) }} {{ toJson (concat) }} {{ toJson (initial (list 1)) }} {{ toJson (compact (list)) }} {{ toJson (regexFindAll "x" "y" -1) }} {{ toJson (splitList "," "") }}`, `{{ has 80 .Values.ports }} {{ has 80.0 .Values.ports }} {{ has nil .Values.list }} {{ without (list 1 2 3) 2 3 }} {{ uniq (list 1 1.0 1) }}`,
	`{{ $l := list 1 2 }}{{ $m := append $l 3 }}{{ $l }}{{ $m }}{{ prepend $l 0 }}{{ concat $l $m (list) }}`, `{{ concat "a" }}`, `{{ append "a" 1 }}`, `{{ append nil 1 }}`, `{{ first "abc" }}`, `{{ first 5 }}`, `{{ last nil }}`, `{{ typeOf (first (until 2)) }} {{ typeOf (append (until 2) 5) }}`,
	`{{ "a" | quote }} {{ quote "a\"b\t\u200b" (b64dec "/w==") nil 1 }} {{ squote "it's" 1 nil }} {{ cat "a" nil 1 " b " }}|{{ cat }}|{{ toString nil }} {{ toString (list 1 nil) }} {{ toString 1e6 }} {{ toStrings (list 1 nil "a") }}`, `{{ title "o'neil a_b a-b 1a éa ǆx" }} {{ upper "straße ŉ ǆ ı" }} {{ lower "İSTANBUL Σ" }} {{ untitle "First Try ÄÖ" }} {{ swapcase "This Is A.Test ǅ" }} {{ initials "First Try é à" }} {{ nospace "a é b" }} {{ nospace "é" }}`,
	`{{ range $s := list "FirstName" "HTTPServer" "NoHTTPS" "GO_PATH" "GO PATH" "GO-PATH" "http2xx" "HTTP20xOK" "Duration2m3s" "Bld4Floor3rd" " _-_ " "HTTP2XX" "Wi_thF" "a.b.C" "日本語Text" "ÀÉx" "x__Y" "1a2B" "_A" "a1" "A1b" "A11" "aB1-2C" "x²y" "" "éÀ9z" "a!!B" "AB!c" "9lives4U2" "ID" "userID42x" }}{{ snakecase $s }}|{{ kebabcase $s }}|{{ camelcase $s }};{{ end }}`, `{{ range $s := list "_camel_case" "_complex__case_" " complex -case " "GOLANG_IS_GREAT" "all" "http_server" "a" "_" "--" "A_B" "éa_ßb" "x y-z" }}{{ camelcase $s }};{{ end }}`,
	`{{ abbrev 5 "hello world" }} {{ abbrev 3 "hello" }} {{ abbrevboth 5 10 "1234 5678 9123" }} {{ abbrevboth 0 5 "abcdefgh" }} {{ abbrevboth 5 7 "abcdefghijklm" }} {{ abbrevboth 100 8 "abcdefghijklm" }} {{ abbrevboth -5 8 "abcdefghijklm" }}`, `{{ trunc 3 "héllo" }} {{ trunc -3 "hello" }} {{ trunc -9 "hello" }} {{ substr 0 3 "hello" }} {{ substr -1 3 "hello" }} {{ substr 2 -1 "hello" }} {{ substr 1 99 "hello" }}`, `{{ substr 4 2 "hello" }}`, `{{ substr -1 9 "hello" }}`, `{{ substr -1 -1 "hello" }}`, `{{ substr 9 -1 "hello" }}`,
	`{{ wrap 5 "aaa bbb cccccccc dd  e" }}|{{ wrapWith 3 "--" "abcdefgh ij" }}|{{ wrap 0 "a b" }}|{{ wrapWith 4 "" "abcdefgh" }}|{{ wrap 80 "short" }}`, `{{ indent 2 "a\n\nb\n" }}|{{ nindent 0 "a" }}|{{ indent 3 "" }}`, `{{ indent -1 "a" }}`, `{{ repeat -1 "a" }}`, `{{ repeat 9223372036854775807 "ab" }}`, `{{ replace "" "-" "aé" }} {{ replace "a" "" "banana" }} {{ trimAll "$é" "é$5$é" }} {{ trim "\u00a0 x \u2003" }} {{ trimall "\ufffd" (b64dec "/2H/") }} {{ trimSuffix "-" "a--" }}`, `{{ split "," "a,b" }} {{ splitn "," 2 "a,b,c" }} {{ splitn "," 0 "a" }} {{ splitn "" 2 "aéb" }} {{ split "" "" }} {{ splitList "" "aé" }} {{ printf "%T" (split "," "a") }}`, `{{ join "," (list 1 nil "a" true) }} {{ join "," "x" }} {{ join "," nil }}{{ join "-" (until 3) }} {{ sortAlpha (list "b" 1 "a") }} {{ sortAlpha "x" }} {{ sortAlpha nil }} {{ plural "one" "many" 1 }}`,
	`{{ regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W" }} {{ regexReplaceAll "a(x*)b" "-ab-axxb-" "$1W" }} {{ regexReplaceAllLiteral "a(x*)b" "-ab-axxb-" "${1}" }} {{ regexSplit "z+" "pizza" -1 }} {{ regexSplit "z" "pizza" 1 }} {{ regexSplit "" "abc" 2 }} {{ regexFindAll "[2,4,6,8]" "123456789" 3 }} {{ regexReplaceAll "x*" "baac" "X" }} {{ regexMatch "(" "a" }}`, `{{ regexFind "(" "a" }}`, "{{ regexFind \"`(\" \"a\" }}", `{{ mustRegexMatch "[z-a]" "a" }}`, `{{ regexSplit "," "" -1 }} {{ len (regexSplit "," "a,b" 0) }}`,
	`{{ toJson (dict "a" "<b>&" "n" nil "f" 1.0 "big" 1e21 "l" (list 1 "x")) }} {{ toRawJson (dict "a" "<b>&") }} {{ toPrettyJson (dict "a" (list) "b" (dict) "c" (list 1)) }}`, `{{ mustToJson (float64 "NaN") }}`, `{{ toJson (float64 "NaN") }}|{{ toPrettyJson (float64 "Inf") }}|{{ toYaml (float64 "NaN") }}`, `{{ toRawJson (float64 "NaN") }}`, `{{ mustToPrettyJson (float64 "+Inf") }}`, `{{ mustToYaml (float64 "NaN") }}`, `{{ (fromYaml "a: [1]").a }} {{ fromYaml "- a" }} {{ fromYamlArray "a: 1" }} {{ fromJson "[]" }} {{ fromJsonArray "{}" }} {{ toYaml (fromYaml "") }} {{ fromJson "null" | toJson }} {{ set (fromJson "{}") "a" 1 }}`, `{{ set (fromYaml "null") "a" 1 }}`, `{{ mustFromJson "{" }}`, `{{ mustFromJson "[1,\"a\",null]" | toJson }}`, `{{ toYaml .Values }}`, `{{ toYamlPretty .Values }}`, `{{ toToml .Values.map }}`, `{{ toPrettyJson .Values }}`,
	`{{ default "d" "" }} {{ default "d" 0 }} {{ default "d" .Values.none }} {{ default "d" (list) }} {{ default "d" "x" }} {{ default "d" (semver "1.2.3") }} {{ coalesce nil "" 0 "x" }} {{ coalesce }} {{ all }} {{ any }} {{ ternary "a" "b" true }} {{ .Values.yes | ternary "a" "b" }}`, `{{ .Values.none | ternary "a" "b" }}`, `{{ kindOf nil }} {{ typeOf nil }} {{ kindOf .Values }} {{ typeOf .Values }} {{ typeOf .Values.map }} {{ typeIsLike "semver.Version" (semver "1.2.3") }} {{ kindOf (semver "1.2.3") }} {{ deepEqual (list 1) (list 1) }} {{ deepEqual (list 1) (list 1.0) }} {{ deepEqual (dict "a" (list)) (dict "a" (list)) }} {{ deepEqual (semver "1.2.3") (semver "1.2.3") }}`,
	`{{ deepCopy nil }}`, `{{ mustDeepCopy nil }}`, `{{ hello }} {{ adler32sum "Wikipedia" }} {{ sha1sum "" }} {{ sha256sum "a" }} {{ sha512sum "a" }}`, `{{ getHostByName "localhost" }}`, `{{ dict "a" }} {{ dict 1 2 nil 3 }} {{ dict "a" 1 "a" 2 }}`, `{{ get (dict "a" nil) "a" | quote }}{{ get (dict) "x" | quote }}{{ hasKey (dict "a" nil) "a" }}{{ pluck "a" (dict "a" 1) (dict) (dict "a" 2) }}`,
}

var names = sortedNames()

func sortedNames() []string {
	var names []string
	for name := range signatures {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

type funcCase struct {
	Template string `json:"t"`
	Out      string `json:"out"`
	Err      string `json:"err,omitempty"`
}

func render(text string) funcCase {
	var tree map[string]any
	if err := json.Unmarshal([]byte(values), &tree); err != nil {
		panic(err)
	}
	c := &chart.Chart{Metadata: &chart.Metadata{Name: "c"}, Templates: []*common.File{{Name: "templates/x", Data: []byte(text)}}}
	out, err := engine.Engine{}.Render(c, common.Values{"Values": common.Values(tree), "Release": map[string]any{}, "Capabilities": common.DefaultCapabilities})
	if err != nil {
		return funcCase{text, "", err.Error()}
	}
	return funcCase{text, out["c/templates/x"], ""}
}

// How often, of a hundred, an argument is a call of another function.
var nested = 0

func arguments(signature string, random *rand.Rand) string {
	var b strings.Builder
	letters := []byte(strings.TrimSuffix(signature, "+"))
	if strings.HasSuffix(signature, "+") && len(letters) > 0 {
		last := letters[len(letters)-1]
		letters = letters[:len(letters)-1]
		for n := random.Intn(4); n > 0; n-- {
			letters = append(letters, last)
		}
	}
	for _, l := range letters {
		pool := pools[l]
		if pool == nil {
			panic(string(l))
		}
		b.WriteByte(' ')
		if nested > 0 && random.Intn(100) < nested {
			name := names[random.Intn(len(names))]
			if !strings.Contains(strings.ToLower(name), "set") && signatures[name] != "" && !strings.Contains(strings.ToLower(name), "merge") {
				b.WriteString("(" + name + arguments(signatures[name], random) + ")")
				continue
			}
		}
		if nested > 0 && l == 'q' && random.Intn(2) == 0 {
			b.WriteByte('"')
			for n := random.Intn(14); n > 0; n-- {
				b.WriteString([]string{"A", "a", "Y", "Z", "2", "7", "=", "=", "\\n", "!", "/"}[random.Intn(11)])
			}
			b.WriteByte('"')
			continue
		}
		b.WriteString(pool[random.Intn(len(pool))])
	}
	return b.String()
}

// Every first argument once with the others at random, then as many again at random throughout.
func generate(seed int64) []string {
	random := rand.New(rand.NewSource(seed))
	seen := map[string]bool{}
	var texts []string
	for _, name := range names {
		signature := signatures[name]
		tries := 1
		if signature != "" {
			tries = 14 + 14*min(len(signature), 3)
			if nested > 0 && signature == "q" {
				tries = 800
			}
		}
		for i := 0; i < tries; i++ {
			text := "{{ " + name + arguments(signature, random) + " }}"
			if signature == "" && name != "hello" || seen[text] {
				continue
			}
			if strings.Contains(strings.ToLower(name), "merge") && strings.Count(text, ".Values") > 1 || name == "set" && strings.HasSuffix(text, ".Values }}") {
				continue // a map that holds itself ends real Go's process
			}
			seen[text] = true
			if i%3 == 2 {
				text = strings.TrimSuffix(text, " }}") + " | typeOf }}"
			}
			texts = append(texts, text)
		}
	}
	return texts
}

func funcCases() {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	n, skipped := 0, 0
	enc.Encode(map[string]json.RawMessage{"values": json.RawMessage(values)})
	seed := int64(3)
	if len(os.Args) > 2 { // another set, with calls in calls
		seed, _ = strconv.ParseInt(os.Args[2], 10, 64)
		nested = 25
	}
	for _, text := range append(generate(seed), extra...) {
		first, same := render(text), true
		for i := 0; i < 6; i++ {
			same = same && first == render(text)
		}
		if !same || clockCase(text) { // an order of maps, random
			skipped++
			continue
		}
		if len(first.Out) > 4000 || strings.Contains(first.Err, "0x") || !valid(first) {
			skipped++
			continue
		}
		enc.Encode(first)
		n++
	}
	fmt.Fprintln(os.Stderr, n, "cases,", skipped, "left out")
}

// What is no date is now.
func clockCase(text string) bool {
	return nested > 0 && strings.Contains(strings.ToLower(text), "date")
}

// Bytes that are no UTF-8 cannot be written down in JSON.
func valid(c funcCase) bool {
	return utf8.ValidString(c.Out) && utf8.ValidString(c.Err)
}
