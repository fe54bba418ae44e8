#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Charts whose files are odd: folders of charts/, partials, .helmignore, values.yaml, links, schemas."""
import os
import sys

os.chdir(sys.argv[1])


def w(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    if isinstance(text, bytes):
        with open(path, "wb") as f:
            f.write(text)
    else:
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write(text)


def chart(name,files=None,extra='',n=None,v='0.1.0'):
    w(f'{name}/Chart.yaml',f'apiVersion: v2\nname: {n or name.split("/")[-1]}\nversion: {v}\n{extra}')
    for p,t in (files or {}).items(): w(f'{name}/{p}',t)
CM='a: {{ .Files.Glob "**" | keys | sortAlpha }}\nt: {{ .Template.Name }}\n{{ range $p, $b := .Files }}f: {{ $p }} {{ len $b }}\n{{ end }}'
# charts/ specials
chart('sp',{'templates/a.yaml':'a: 1\n','charts/README.md':'x','charts/foo.txt':'x','charts/.hid.tgz':'x','charts/empty/.keep':'','charts/a.b/Chart.yaml':'apiVersion: v2\nname: ab\nversion: 1.0.0\n','charts/a.b/templates/x.yaml':'ab: {{ .Chart.Name }}\n'})
chart('sp2',{'templates/a.yaml':'a: 1\n','charts/_x/Chart.yaml':'apiVersion: v2\nname: ux\nversion: 1.0.0\n','charts/_x/templates/x.yaml':'ux: 1\n','charts/.y/Chart.yaml':'apiVersion: v2\nname: uy\nversion: 1.0.0\n','charts/.y/templates/x.yaml':'uy: 1\n'})
chart('sp3',{'templates/a.yaml':'a: 1\n','charts/bad/values.yaml':'x: 1\n'})
chart('sp4',{'templates/a.yaml':'a: 1\n','charts/bad.tgz':'nope'})
chart('sp5',{'templates/a.yaml':'a: 1\n','charts/x/Chart.yaml':'apiVersion: v2\nname: other\nversion: 1.0.0\n','charts/x/templates/x.yaml':'n: {{ .Chart.Name }} {{ .Template.Name }} {{ .Values | toJson }}\n','values.yaml':'x: {a: 1}\nother: {b: 2}\n'})
chart('sp6',{'templates/a.yaml':'a: 1\n','charts/x/Chart.yaml':'apiVersion: v2\nname: dup\nversion: 1.0.0\n','charts/y/Chart.yaml':'apiVersion: v2\nname: dup\nversion: 2.0.0\n','charts/x/templates/x.yaml':'v: {{ .Chart.Version }}\n','charts/y/templates/x.yaml':'v: {{ .Chart.Version }}\n'})
chart('sp7',{'templates/a.yaml':'a: 1\n','charts/x/charts/y/charts/z/Chart.yaml':'apiVersion: v2\nname: z\nversion: 1.0.0\n','charts/x/Chart.yaml':'apiVersion: v2\nname: x\nversion: 1.0.0\n','charts/x/charts/y/Chart.yaml':'apiVersion: v2\nname: y\nversion: 1.0.0\ntype: library\n','charts/x/charts/y/templates/_h.tpl':'{{ define "h" }}from y{{ end }}','charts/x/templates/a.yaml':'h: {{ include "h" . }}\n','charts/x/charts/y/charts/z/templates/a.yaml':'z: {{ include "h" . }}\n','charts/x/charts/y/templates/lib.yaml':'lib: 1\n'})
# partials same names
chart('par',{'templates/_helpers.tpl':'{{ define "n" }}parent{{ end }}','templates/a.yaml':'n: {{ include "n" . }} {{ include "only" . }}\n','charts/s/Chart.yaml':'apiVersion: v2\nname: s\nversion: 1.0.0\n','charts/s/templates/_helpers.tpl':'{{ define "n" }}sub{{ end }}{{ define "only" }}o {{ .Chart.Name }}{{ end }}','charts/s/templates/a.yaml':'n: {{ include "n" . }}\n','charts/s/templates/NOTES.txt':'sub notes\n','templates/NOTES.txt':'notes {{ .Release.Name }}\n','charts/s/crds/c.yaml':'kind: CustomResourceDefinition\nmetadata: {name: c}\n','crds/b.yaml':'kind: CustomResourceDefinition\nmetadata: {name: b}\n---\nx: 1','crds/README.md':'x','crds/sub/d.yml':'d: 1\n','crds/e.json':'{"a":1}'})
chart('tn',{'templates/x/y/z.yaml':'z: {{ .Template.Name }}\n','templates/a.yaml.tpl':'t: 1\n','templates/b.txt':'b: {{ 1 }}\n','templates/c':'c: 1\n','templates/.hid.yaml':'h: 1\n','templates/_p.yaml':'p: 1\n','templates/d.YAML':'d: 1\n','templates/NOTES.txt.yaml':'n: 1\n','templates/x/NOTES.txt':'xn\n','templates/e.json':'{"e":1}','templates/tests/t.yaml':'t: 1\nmetadata: {annotations: {helm.sh/hook: test}}\n','templates/ä.yaml':'u: 1\n','templates/sp ace.yaml':'s: 1\n','values.yml':'x: 1\n','templates/f.yml':'f: 1\n'})
IG={'plain':'*.md\n','neg':'*\n!keep.txt\n!templates\n!Chart.yaml\n','dir':'d/\n','abs':'/d/x.txt\n','star2':'**/x.txt\n','cls':'[a-c].txt\n','bad':'[\n','comment':'# x\n\n  *.md  \n','esc':'\\#x\n','crlf':'*.md\r\n','trail':'d/*\n','q':'?.txt\n','self':'.helmignore\nChart.yaml\n','neg2':'d/\n!d/x.txt\n','tpl':'templates/a.yaml\n','bom':'\ufeff*.md\n','long':'x'*70000+'\n','sub':'charts/s\n','vals':'values.yaml\n','negonly':'!a.txt\n','slash':'d/x.txt\n','dot':'.*\n','space':'a b.txt\n'}
for k,v in IG.items():
    chart('ig-'+k,{'.helmignore':v,'templates/a.yaml':CM,'templates/b.yaml':'b: 1\n','a.txt':'1','b.txt':'2','keep.txt':'3','README.md':'r','d/x.txt':'x','d/y.md':'y','d/e/x.txt':'z','#x':'h','a b.txt':'s','.dot':'.','values.yaml':'v: 1\n','charts/s/Chart.yaml':'apiVersion: v2\nname: s\nversion: 1.0.0\n','charts/s/templates/a.yaml':'s: 1\n','charts/s/README.md':'x','charts/s/.helmignore':'templates\n'})
# values
VV={'list':'- a\n','str':'abc\n','empty':'','null':'null\n','num':'5\n','bad':'a: [\n','dup':'a: 1\na: 2\n','docs':'a: 1\n---\nb: 2\na: 3\n','bom':'\ufeffa: 1\n','crlf':'a: 1\r\nb: |\r\n  x\r\n  y\r\n','utf16':'a: 1\n'.encode('utf-16'),'latin':b'a: caf\xe9\n','nul':b'a: "x\0"\n','tab':'a:\n\tb: 1\n','big':'a: 9007199254740993\nb: 18446744073709551616\nc: 1e400\nd: -9223372036854775808\ne: 0x7fffffffffffffff\nf: 0o777\ng: 1_0\nh: 1.10\ni: 1e2\nj: 123456789012345678901234567890\n','y11':'a: yes\nb: on\nc: 2001-01-01\nd: 1:30\ne: 010\nf: ~\ng: .inf\n','keys':'1: a\ntrue: b\n1.5: c\n','nullkey':'null: a\n','anch':'x: &x {a: 1}\ny: {<<: *x, b: 2}\nz: *x\n','cplx':'? [a]\n: b\n','tag':'a: !!str 5\nb: !x y\n','global':'global: [1]\n','multi':'a: |+\n  x\n\n\nb: >\n  x\n  y\n','inf':'a: .inf\n'}
for k,v in VV.items():
    chart('va-'+k,{'values.yaml':v,'templates/a.yaml':'j: {{ toJson .Values }}\ny: |\n{{ toYaml .Values | indent 2 }}\np: {{ .Values | quote }}\n{{- range $k, $v := .Values }}\nk{{ $k }}: {{ kindOf $v }} {{ $v }}\n{{- end }}\n'})
# symlinks
chart('ln',{'templates/a.yaml':CM,'real.txt':'r','d/f.txt':'f'}); os.symlink('real.txt','ln/l.txt'); os.symlink('d','ln/ld'); os.symlink('../real.txt','ln/d/up.txt')
chart('ln2',{'templates/a.yaml':CM}); os.symlink('.','ln2/loop')
chart('ln3',{'templates/a.yaml':CM}); os.symlink('nowhere','ln3/dead')
chart('ln4',{'templates/a.yaml':CM}); os.symlink('/dev/null','ln4/null')
chart('ln5',{'templates/a.yaml':CM,'v.yaml':'a: 1\n'}); os.symlink('v.yaml','ln5/values.yaml')
chart('ln6',{}); os.symlink('../sp/templates','ln6/templates')
os.symlink('sp','ln7')
chart('fifo',{'templates/a.yaml':CM}); os.mkfifo('fifo/p')
# schema
SC={'ok':'{"type":"object","properties":{"a":{"type":"integer"}}}','ref':'{"$ref":"file:///etc/passwd"}','refrel':'{"$ref":"other.json"}','refhttp':'{"$ref":"http://127.0.0.1:1/x.json"}','refdef':'{"definitions":{"p":{"type":"integer","minimum":5}},"properties":{"a":{"$ref":"#/definitions/p"}}}','refbad':'{"$ref":"#/nope"}','bad':'{','empty':'','list':'[]','null':'null','true':'true','false':'false','num':'5','str':'"x"','draft4':'{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"minimum":5,"exclusiveMinimum":true}}}','draft6':'{"$schema":"http://json-schema.org/draft-06/schema#","properties":{"a":{"const":2}}}','d2019':'{"$schema":"https://json-schema.org/draft/2019-09/schema","dependentRequired":{"a":["zz"]}}','d2020':'{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"l":{"prefixItems":[{"type":"string"}],"items":false}}}','unk':'{"$schema":"http://example.com/x"}','req':'{"required":["b","c"],"additionalProperties":false}','pat':'{"properties":{"s":{"pattern":"^[0-9]+$","maxLength":1}}}','fmt':'{"properties":{"s":{"format":"email"}}}','enum':'{"properties":{"a":{"enum":[5,"x",null]}}}','any':'{"properties":{"a":{"anyOf":[{"type":"string"},{"minimum":9}],"not":{"const":1},"oneOf":[{"type":"integer"},{"type":"number"}]}}}','badpat':'{"properties":{"s":{"pattern":"("}}}','badtype':'{"type":"foo"}','cycle':'{"$ref":"#"}','if':'{"if":{"required":["a"]},"then":{"required":["zz"]}}','uniq':'{"properties":{"l":{"uniqueItems":true,"minItems":5,"contains":{"type":"string"}}}}','urn':'{"$id":"urn:x","$ref":"urn:y"}','dupid':'{"definitions":{"a":{"$id":"http://x/y"},"b":{"$id":"http://x/y"}}}','bom':'\ufeff{"type":"object"}','cmt':'{"type":"object"} // x'}
for k,v in SC.items():
    chart('sc-'+k,{'values.schema.json':v,'values.yaml':'a: 1\ns: ab\nl: [1, 1]\n','templates/a.yaml':'a: 1\n'})
# numbers
NUMBERS = [2**53, 2**53 + 2, 2**60 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**53), -(2**62), -(2**63), -(2**64), 10**18, 10**20, 10**21]
chart('big', {'values.yaml': ''.join(f'v{i}: {x}\n' for i, x in enumerate(NUMBERS)) + 'f1: 1e18\nf2: 1.5e300\nf3: -0.0\nf4: 0.1\n', 'templates/a.yaml': '''y: |
{{ toYaml .Values | indent 2 }}
z: |
{{ toYamlPretty .Values | indent 2 }}
j: {{ toJson .Values | quote }}
t: |
{{ toToml .Values | indent 2 }}
f: {{ float64 16777217 | toYaml }}
{{- range $k, $v := .Values }}
{{ $k }}: {{ list $v ($v | int64) ($v | int) ($v | toString) ($v | quote) (printf "%v %d %f" $v (int64 $v) $v) (list $v | toYaml) (toYaml $v) (toYaml (int64 $v)) | toString | quote }}
{{- end }}
{{- range $k, $v := fromYaml (toYaml .Values) }}
y{{ $k }}: {{ printf "%v %s" $v (toYaml $v) }}
{{- end }}
'''})
