#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Charts whose Chart.yaml is odd."""
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


BASE={'name':'x','version':'0.1.0','apiVersion':'v2'}
def meta(name,extra='',drop=(),**over):
    b=dict(BASE,name=name); b.update({k:v for k,v in over.items()}); 
    return ''.join(f'{k}: {v}\n' for k,v in b.items() if k not in drop and v is not None)+extra
def chart(name,extra='',files=None,raw=None,**k):
    w(f'{name}/Chart.yaml',raw if raw is not None else meta(name,extra,**k))
    w(f'{name}/templates/a.yaml','c: {{ .Chart | toJson }}\nn: {{ .Chart.Name }}\n')
    for p,t in (files or {}).items(): w(f'{name}/{p}',t)
X={
'desc':'description: "a\\tb\\nc"\n','desc2':'description: |\n  multi\n  line\n','descnum':'description: 5\n','desclist':'description: [a]\n','descnull':'description: null\n',
'kw':'keywords: [a, "b c", 5]\n','kw2':'keywords: a\n','kw3':'keywords: [null, {a: b}]\n','kw4':'keywords: {}\n','kw5':'keywords: []\n',
'home':'home: "http://x y"\n','home2':'home: foo\n','sources':'sources: [http://a, b, null]\n','sources2':'sources: http://a\n',
'maint':'maintainers: [{name: a, email: b, url: c}]\n','maint2':'maintainers: [{name: "", email: x@y.z}]\n','maint3':'maintainers: [null]\n','maint4':'maintainers: [a]\n','maint5':'maintainers: {name: a}\n','maint6':'maintainers: [{name: a, email: x@y.z, url: "http://q", extra: 1}]\n','maint7':'maintainers: []\n','maint8':'maintainers: [{name: 5}]\n',
'icon':'icon: foo\n','icon2':'icon: "https://a.b/c.png"\n','icon3':'icon: ":x"\n','iconnull':'icon: null\n','icon4':'icon: file:///x\n','icon5':'icon: "data:image/png;base64,xx"\n',
'appv':'appVersion: 1.0\n','appv2':'appVersion: "1.0"\n','appv3':'appVersion: 1e3\n','appv4':'appVersion: 0x10\n','appv5':'appVersion: true\n','appv6':'appVersion: [1]\n','appv7':'appVersion: null\n','appv8':'appVersion: 012\n','appv9':'appVersion: 2024-01-02\n',
'depr':'deprecated: true\n','depr2':'deprecated: "true"\n','depr3':'deprecated: yes\n','depr4':'deprecated: 1\n','depr5':'deprecated: null\n',
'ann':'annotations: {a: b, "c/d": "1"}\n','ann2':'annotations: {a: 1}\n','ann3':'annotations: [a]\n','ann4':'annotations: null\n','ann5':'annotations: {a: null}\n','ann6':'annotations: {a: {b: c}}\n',
'kube':'kubeVersion: ">=1.0"\n','kube2':'kubeVersion: ">=99"\n','kube3':'kubeVersion: foo\n','kube4':'kubeVersion: 1.20\n','kube5':'kubeVersion: ">=1.20-0 <2"\n','kube6':'kubeVersion: "1.36"\n','kube7':'kubeVersion: "^1.30 || ~1.2"\n','kube8':'kubeVersion: "1.x"\n','kube9':'kubeVersion: "!=1.36.0"\n','kube10':'kubeVersion: "=v1.36.0"\n','kube11':'kubeVersion: ">1.36.0-alpha.1"\n',
'type':'type: application\n','type2':'type: library\n','type3':'type: foo\n','type4':'type: ""\n','type5':'type: null\n','type6':'type: 5\n','type7':'type: Application\n',
'cond':'condition: a.b\n','tags':'tags: a,b\n','unk':'foo: bar\n','unk2':'Name: other\n','engine':'engine: gotpl\n','tiller':'tillerVersion: ">2"\n',
'deps0':'dependencies: []\n','depsnull':'dependencies: null\n','depsmap':'dependencies: {}\n','depsmap2':'dependencies: {name: a}\n','depsnull2':'dependencies: [null]\n','depsstr':'dependencies: [a]\n','depsmiss':'dependencies: [{name: q, version: 1}]\n','depsnover':'dependencies: [{name: q}]\n','depsnoname':'dependencies: [{version: 1}]\n','depsext':'dependencies: [{name: q, version: 1.0.0, foo: bar, repository: "", enabled: true}]\n','depsdup':'dependencies: [{name: q, version: 1.0.0},{name: q, version: 1.0.0}]\n','depsalias':'dependencies: [{name: q, version: 1.0.0, alias: "a/b"}]\n','depsalias2':'dependencies: [{name: q, version: 1.0.0, alias: q},{name: q, version: 1.0.0}]\n','depsimp':'dependencies: [{name: q, version: 1.0.0, import-values: null}]\n','depsimp2':'dependencies: [{name: q, version: 1.0.0, import-values: a}]\n','depsimp3':'dependencies: [{name: q, version: 1.0.0, import-values: [null, 5, {child: a}, {parent: b}, [c]]}]\n','depstags':'dependencies: [{name: q, version: 1.0.0, tags: a}]\n',
'emptydoc':'---\n','twodoc':'---\nname: other\n','dupkey':'name: again\n','merge':'a: &a {b: c}\nannotations: {<<: *a}\n',
}
for k,v in X.items():
    f={}
    if k.startswith('deps'): f={'charts/q/Chart.yaml':'apiVersion: v2\nname: q\nversion: 1.0.0\n','charts/q/templates/b.yaml':'q: {{ .Values | toJson }}\n'}
    if k=='depsmiss': f={}
    chart('m-'+k,v,f)
V={'v1':'v1','vv1':'v1.2.3','short':'1','short2':'1.2','zero':'01.2.3','plus':'1.2.3+build.5','pre':'1.2.3-rc.1+x_y','under':'1.2.3_4','space':'" 1.2.3"','empty':'""','num':'1.2','long':'1.2.3.4','ws':'"1.2.3 "','huge':'99999999999999999999.0.0','neg':'-1.0.0','latest':'latest','plus2':'1.0.0+a+b','pre0':'1.0.0-01','range':'">=1"','exp':'1e3'}
for k,v in V.items(): chart('v-'+k,version=v)
N={'upper':'Foo','dot':'a.b','slash':'a/b','dots':'..','space':'"a b"','empty':'""','num':'5','uni':'é','long':'a'*260,'under':'a_b','dash':'-a','tilde':'"~"','bool':'true','back':'"a\\\\b"','ctl':'"a\\u0001b"','git':'.git','trail':'"a."'}
for k,v in N.items(): chart('n-'+k,name=v) if False else w(f'n-{k}/Chart.yaml',f'apiVersion: v2\nname: {v}\nversion: 0.1.0\n') or w(f'n-{k}/templates/a.yaml','c: {{ .Chart.Name }}\n')
A={'v1':'v1','v3':'v3','v4':'v4','num':'2','null':'null','empty':'""','upper':'V2'}
for k,v in A.items(): chart('a-'+k,apiVersion=v)
for k in ('name','version','apiVersion'): chart('d-'+k,drop=(k,))
R={'empty':'','space':'  \n','comment':'# x\n','list':'- a\n','str':'abc\n','bad':'a: [\n','tab':'\tname: x\n','bom':'\ufeffapiVersion: v2\nname: r-bom\nversion: 0.1.0\n','crlf':'apiVersion: v2\r\nname: r-crlf\r\nversion: 0.1.0\r\n','utf16':'apiVersion: v2\nname: r\nversion: 0.1.0\n'.encode('utf-16'),'json':'{"apiVersion":"v2","name":"r-json","version":"0.1.0"}','latin':b'apiVersion: v2\nname: r-latin\nversion: 0.1.0\ndescription: caf\xe9\n','nul':b'apiVersion: v2\nname: r\0\nversion: 0.1.0\n'}
for k,v in R.items(): chart('r-'+k,raw=v)
# v1 charts
chart('one',apiVersion='v1',files={'requirements.yaml':'dependencies:\n- {name: q, version: 1.0.0, condition: q.on}\n','requirements.lock':'dependencies: []\ndigest: x\ngenerated: "2020-01-01T00:00:00Z"\n','charts/q/Chart.yaml':'apiVersion: v1\nname: q\nversion: 1.0.0\n','charts/q/templates/b.yaml':'q: 1\n'})
chart('one2',apiVersion='v1',extra='dependencies: [{name: q, version: 1}]\n',files={})
chart('one3',files={'requirements.yaml':'dependencies:\n- {name: q, version: 1.0.0}\n'})
chart('one4',apiVersion='v1',files={'requirements.yaml':'dependencies: [\n'})
chart('one5',apiVersion='v1',files={'requirements.yaml':'- a\n'})
chart('one6',files={'Chart.lock':'a: [\n'}); chart('one7',files={'Chart.lock':'x\n'}); chart('one8',files={'Chart.lock':''})
chart('v3-bad',apiVersion='v3',extra='annotations: [a]\n'); chart('v3-sub',apiVersion='v3',files={'charts/q/values.yaml':'a: 1\n'})
