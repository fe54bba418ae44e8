#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Charts whose one manifest is odd YAML."""
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


def chart(name,files,meta='apiVersion: v2\nname: {n}\nversion: 0.1.0\n'):
    w(f'{name}/Chart.yaml',meta.replace('{n}',name) if isinstance(meta,str) else meta)
    for k,v in files.items(): w(f'{name}/{k}',v)
CM='apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n'
T={
'crlf':CM.replace('\n','\r\n')+'data:\r\n  a: |\r\n    x\r\n    ---\r\n    y\r\n',
'bom':'\ufeff'+CM,
'utf16':CM.encode('utf-16'),
'latin1':CM.encode()+b'data: {a: "caf\xe9"}\n',
'nul':CM.encode()+b'data: {a: "x\0y"}\n',
'longline':CM+'data: {a: "'+'x'*70000+'"}\n',

'docs':'---\n'+CM+'---\n# only comment\n---\n\n---\n'+CM.replace('name: a','name: b')+'---\n',
'docsblock':CM+'data:\n  a: |\n    x\n    ---\n    y\n',
'docsblock0':CM+'data:\n  a: |\nx\n---\ny: 1\n',
'sep2':CM+'--- # c\n'+CM,
'sep3':CM+'---foo\n',
'sep4':CM+'\n---\t\n'+CM,
'sep5':CM+'...\n---\n'+CM,
'sep6':'---\n---\n---\n'+CM,
'sep7':CM+'--- '+CM,
'dots':CM+'...\n',
'yaml11':CM+'data: {a: yes, b: no, c: on, d: off, e: y, f: n, g: 0o17, h: 017, i: 0x1F, j: 0b11, k: 1_000, l: 1e3, m: .5, n: -.inf, o: .NaN, p: 12:30:45, q: 2001-12-14, r: ~, s: null, t: 1.0, u: +1, v: 9007199254740993, w: 18446744073709551616, x: "\\u263A"}\n',
'anchors':'x: &a {k: v, l: [1]}\n'+CM+'data:\n  <<: *a\n  y: *a\n',
'dup':CM+'data: {a: b}\ndata: {c: d}\n',
'dupmeta':CM+'metadata: {name: b}\n',
'dupkind':CM+'kind: Secret\n',
'merge2':CM+'data:\n  <<: [{a: b}, {c: d}]\n',
'tabs':CM+'data:\n\ta: b\n',
'list':'apiVersion: v1\nkind: List\nitems:\n- '+CM.replace('\n','\n  ')+'\n',
'kindnum':'apiVersion: v1\nkind: 5\nmetadata: {name: a}\n',
'namenum':'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 5}\n',
'namebool':'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: true}\n',
'metalist':'apiVersion: v1\nkind: ConfigMap\nmetadata: []\n',
'metastr':'apiVersion: v1\nkind: ConfigMap\nmetadata: x\n',
'annnum':'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {x: 1}}\n',
'annlist':'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: [x]}\n',
'annnull':'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {helm.sh/hook: null}}\n',
'top':'- a\n- b\n','toplevelstr':'"x"\n','topnum':'5\n','topnull':'null\n','topbool':'true\n',
'hookempty':CM+'  annotations: {helm.sh/hook: ""}\n',
'hookbad':CM+'  annotations: {helm.sh/hook: pre-foo}\n',
'hookmix':CM+'  annotations: {helm.sh/hook: "pre-install, post-foo ,test"}\n',
'hooktest':CM+'  annotations: {helm.sh/hook: "test-success"}\n',
'hooktestf':CM+'  annotations: {helm.sh/hook: "test-failure"}\n',
'hookcrd':CM+'  annotations: {helm.sh/hook: "crd-install"}\n',
'hookcase':CM+'  annotations: {helm.sh/hook: "Pre-Install"}\n',
'hookw':CM+'  annotations: {helm.sh/hook: pre-install, helm.sh/hook-weight: "abc"}\n',
'hookw2':CM+'  annotations: {helm.sh/hook: pre-install, helm.sh/hook-weight: 5}\n',
'hookw3':CM+'  annotations: {helm.sh/hook: pre-install, helm.sh/hook-weight: "-5"}\n---\n'+CM.replace('name: a','name: b')+'  annotations: {helm.sh/hook: pre-install, helm.sh/hook-weight: "-10"}\n---\n'+CM.replace('name: a','name: c'),
'hookdel':CM+'  annotations: {helm.sh/hook: pre-install, helm.sh/hook-delete-policy: "x, HOOK-succeeded", helm.sh/hook-output-log-policy: foo}\n',
'policy':CM+'  annotations: {helm.sh/resource-policy: keep}\n',
'noapi':'kind: ConfigMap\nmetadata: {name: a}\n','nometa':'apiVersion: v1\nkind: Pod\n',
'kinds':'\n---\n'.join(f'apiVersion: v1\nkind: {k}\nmetadata: {{name: {n}}}' for k,n in [('Service','b'),('Foo','z'),('Namespace','n'),('Bar','y'),('Pod','p'),('Service','a'),('Ingress','i'),('APIService','x'),('CronTab','c'),('CustomResourceDefinition','d'),('foo','low'),('PriorityClass','pc'),('Secret','s'),('Job','j'),('List','l'),('',''),('StatefulSet','ss'),('HorizontalPodAutoscaler','h'),('MutatingWebhookConfiguration','m')]),
'flow':'{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n','json':'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}',
'json2':'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}\n{"a":1}',
'trail':CM+'   \n\n\n','lead':'\n\n  \n'+CM,'onlyspace':' \n\t\n ','onlycomment':'# x\n#y\n','comsep':'# x\n---\n# y\n',
'ctrl':CM.encode()+b'data: {a: "x\x07y"}\n','del':CM.encode()+b'data: {a: "x\x7fy"}\n','nel':CM+'data: {a: "x\u0085y\u2028z"}\n','emoji':CM+'data: {a: 😀, "é": ü}\n',
'bidi':CM+'data: {a: "\u202eabc"}\n','zw':CM+'data: {a: \u200bx}\n','surr':CM+'data: {a: "\\ud83d\\ude00"}\n',
'tag':CM+'data: {a: !!str 5, b: !!int "7", c: !foo x, d: !!binary aGk=, e: !!float 3, f: !!null x, g: !!timestamp 2001-01-01, h: !!set {x}}\n',
'cplx':CM+'data: {? [a, b] : c}\n','cplx2':CM+'? {x: y}\n: z\n','keynum':CM+'data: {1: a, 1.5: b, true: c, 0x10: f}\n',
'deep':'a: '+'['*200+']'*200+'\n','deepmap':'\n'.join('  '*i+'a:' for i in range(120))+'\n',
'unclosed':CM+'data: {a: "x\n','badindent':CM+'data:\n   a: 1\n  b: 2\n','colon':CM+'data: a: b\n','pct':'%YAML 1.1\n---\n'+CM,'pct2':'%TAG ! tag:x,2000:\n---\n'+CM,'pct3':'%FOO\n---\n'+CM,
'alias':CM+'data: *x\n','selfalias':CM+'data: &x [*x]\n',
'folded':CM+'data:\n  a: >-\n    x\n     y\n\n    z\n  b: |+\n    q\n\n\n  c: |2-\n      r\n',
}
for k,v in T.items(): chart('y-'+k,{'templates/a.yaml':v})
