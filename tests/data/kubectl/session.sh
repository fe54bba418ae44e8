# SPDX-License-Identifier: Apache-2.0
# What a chart user does with kubectl, one command a line: sourced by tests/conformance/kubectl.sh, which defines
#   k ARGS…      prints "$ kubectl ARGS", then the normalised output and "[status]" when it is not 0
#   title TEXT   a heading
# The same commands against a real kube-apiserver gave tests/data/kubectl/session.txt.

title version and discovery
k version
k api-versions
k api-resources --api-group=apps
k api-resources --namespaced=false --api-group=rbac.authorization.k8s.io -o name
k api-resources --categories=all -o name
k get --raw /readyz
k get --raw /api/v1/nonsense
k get --raw /nonsense
k auth can-i create pods
k auth can-i create nonsense
k cluster-info

title namespaces
k create ns shop
k create ns shop
k get ns shop
k get ns shop -o jsonpath={.status.phase}
k get ns shop -o yaml
k get ns nothere
k create ns Bad_Name
k get sa -n shop default
k get cm -n shop
k delete ns default
k create cm x -n nothere --from-literal=a=b

title configmaps
k -n shop create cm conf --from-literal=colour=blue --from-literal=size=10
k -n shop create cm conf --from-literal=colour=blue
k -n shop get cm conf
k -n shop get cm conf -o yaml
k -n shop get cm conf -o jsonpath={.data.colour}
k -n shop get cm conf -o name
k -n shop get cm conf -o custom-columns=N:.metadata.name,C:.data.colour
k -n shop describe cm conf
sleep 1.1 # managedFields are sorted by second
k -n shop label cm conf tier=web
k -n shop label cm conf tier=db
k -n shop label cm conf tier=db --overwrite
k -n shop label cm conf 'bad label=x'
sleep 1.1
k -n shop annotate cm conf note=hello
k -n shop get cm -l tier=db -o name
k -n shop get cm -l 'tier in (web,db),tier!=web' -o name
k -n shop get cm -l '!tier' -o name
k -n shop get cm -l 'tier in (' -o name
k -n shop get cm --field-selector metadata.name=conf -o name
k -n shop get cm --field-selector nonsense=conf -o name
sleep 1.1
k -n shop patch cm conf --type=merge -p '{"data":{"size":"11","extra":"1"}}'
k -n shop patch cm conf --type=json -p '[{"op":"remove","path":"/data/extra"},{"op":"test","path":"/data/size","value":"11"}]'
k -n shop patch cm conf --type=json -p '[{"op":"test","path":"/data/size","value":"99"}]'
k -n shop patch cm conf --type=json -p '[{"op":"remove","path":"/data/nothere"}]'
k -n shop patch cm conf -p '{"data":{"size":"12"}}'
k -n shop patch cm conf -p '{"data":{"size":"12"}}'
k -n shop patch cm conf --type=merge -p '{"immutable":true}'
k -n shop patch cm conf --type=merge -p '{"data":{"size":"13"}}'
k -n shop get cm conf -o yaml --show-managed-fields
k -n shop delete cm conf
k -n shop delete cm conf
k -n shop delete cm conf --ignore-not-found

title secrets
k -n shop create secret generic pass --from-literal=user=me --from-literal=pw=secret
k -n shop get secret pass
k -n shop get secret pass -o yaml
k -n shop describe secret pass
k -n shop apply -f - <<'END'
apiVersion: v1
kind: Secret
metadata: {name: text}
stringData: {a: b}
END
k -n shop get secret text -o jsonpath={.data}
k -n shop patch secret text --type=merge -p '{"type":"other"}'
k -n shop create secret tls bad --cert=/nonexistent --key=/nonexistent
k -n shop delete secret pass text

title client-side apply
k -n shop apply -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: app, labels: {app: shop}}
data: {one: "1", two: "2"}
END
k -n shop apply -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: app, labels: {app: shop}}
data: {one: "1", two: "2"}
END
k -n shop diff -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: app, labels: {app: shop}}
data: {one: "1", three: "3"}
END
k -n shop apply --dry-run=server -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: app, labels: {app: shop}}
data: {one: "1", three: "3"}
END
k -n shop get cm app -o jsonpath={.data}
k -n shop apply -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: app, labels: {app: shop}}
data: {one: "1", three: "3"}
END
k -n shop get cm app -o jsonpath={.data}
k -n shop apply -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: strict}
data: {one: "1"}
nonsense: 1
END
k -n shop apply --validate=warn -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: strict}
data: {one: "1"}
nonsense: 1
END
k -n shop apply -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: wrong}
data: {one: 1}
END
k -n shop replace -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data: {four: "4"}
END
k -n shop get cm app -o jsonpath={.data}

title server-side apply
k -n shop apply --server-side -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: ssa}
data: {one: "1", two: "2"}
END
k -n shop apply --server-side --field-manager=other -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: ssa}
data: {two: "3"}
END
sleep 1.1
k -n shop apply --server-side --field-manager=other --force-conflicts -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: ssa}
data: {two: "3"}
END
sleep 1.1
k -n shop apply --server-side -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: ssa}
data: {three: "3"}
END
k -n shop get cm ssa -o yaml --show-managed-fields
k -n shop diff --server-side -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: ssa}
data: {three: "4"}
END

title services
k -n shop create service clusterip web --tcp=80:8080
k -n shop get svc web
k -n shop get svc web -o yaml
k -n shop create service nodeport np --tcp=80:8080 --node-port=30123
k -n shop get svc np -o jsonpath={.spec.ports}
k -n shop create service nodeport np2 --tcp=80:8080 --node-port=30123
k -n shop create service nodeport np3 --tcp=80:8080 --node-port=80
k -n shop create service externalname ext --external-name=example.org
k -n shop get svc ext
k -n shop create service loadbalancer lb --tcp=80:80
k -n shop get svc lb -o jsonpath={.spec.type}
k -n shop patch svc web -p '{"spec":{"clusterIP":"10.96.9.9"}}'
k -n shop delete svc web np ext lb

title deployments
k -n shop create deployment web --image=nginx:1.25 --replicas=0
k -n shop get deploy web -o jsonpath={.spec}
k -n shop get deploy web
k -n shop scale deploy web --replicas=0
k -n shop get deploy web --subresource=scale -o jsonpath={.spec}
k -n shop set image deploy/web nginx=nginx:1.26
k -n shop get deploy web -o jsonpath={.spec.template.spec.containers[0].image}
k -n shop set env deploy/web A=1 B=2
k -n shop get deploy web -o jsonpath={.spec.template.spec.containers[0].env}
k -n shop patch deploy web -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"busybox"}]}}}}'
k -n shop get deploy web -o jsonpath={.spec.template.spec.containers[*].name}
k -n shop patch deploy web -p '{"spec":{"selector":{"matchLabels":{"app":"other"}}}}'
k -n shop patch deploy web --type=merge -p '{"spec":{"replicas":-1}}'
k -n shop apply -f - <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: bad}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: c}}
    spec: {containers: [{name: x}]}
END
k -n shop apply -f - <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: bad}
spec:
  replica: 1
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: x, image: busybox, imagePullPolcy: Always}]}
END
k -n shop delete deploy web

title pods
k -n shop run one --image=busybox --restart=Never --dry-run=server -o jsonpath={.spec.restartPolicy}
k -n shop apply -f - <<'END'
apiVersion: v1
kind: Pod
metadata: {name: one, labels: {run: one}}
spec: {automountServiceAccountToken: false, containers: [{name: c, image: busybox, resources: {requests: {cpu: 0.1, memory: 1Gi}}}]}
END
k -n shop get pod one
k -n shop get pod one -o wide
k -n shop get pod one -o jsonpath={.spec}
k -n shop get pod one -o jsonpath={.status}
k -n shop get pod --field-selector status.phase=Pending -o name
k -n shop get pod --field-selector status.phase=Running -o name
k -n shop patch pod one -p '{"spec":{"containers":[{"name":"c","image":"busybox:2"}]}}'
k -n shop patch pod one --subresource=status --type=merge -p '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
k -n shop wait --for=condition=Ready pod/one --timeout=5s
k -n shop wait --for=jsonpath={.status.phase}=Running pod/one --timeout=5s
k -n shop wait --for=condition=Ready=false pod/one --timeout=1s
k -n shop logs one -c nothere
k -n shop delete pod one --now
k -n shop get pods

title finalizers
k -n shop apply -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: held, finalizers: [example.org/hold]}
END
k -n shop delete cm held --wait=false
k -n shop get cm held -o jsonpath={.metadata.finalizers}
k -n shop wait --for=delete cm/held --timeout=1s
k -n shop patch cm held --type=merge -p '{"metadata":{"finalizers":["example.org/other"]}}'
k -n shop patch cm held --type=merge -p '{"metadata":{"finalizers":null}}'
k -n shop get cm held

title custom resources
k apply -f - <<'END'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cakes.bakery.example.org}
spec:
  group: bakery.example.org
  scope: Namespaced
  names: {plural: cakes, singular: cake, kind: Cake, shortNames: [ck], categories: [sweets]}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - {name: Flavour, type: string, jsonPath: .spec.flavour}
    - {name: Layers, type: integer, jsonPath: .spec.layers}
    - {name: Phase, type: string, jsonPath: .status.phase, priority: 1}
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.layers, statusReplicasPath: .status.layers}
    schema:
      openAPIV3Schema:
        type: object
        description: A cake.
        properties:
          spec:
            type: object
            description: What the cake shall be.
            required: [flavour]
            properties:
              flavour: {type: string, enum: [plain, lemon, nut], description: How it tastes.}
              layers: {type: integer, minimum: 1, maximum: 9, default: 2}
              note: {type: string, maxLength: 10, pattern: '^[a-z]*$'}
              toppings:
                type: array
                items: {type: object, required: [name], properties: {name: {type: string}, amount: {type: integer, default: 1}}}
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status:
            type: object
            properties: {phase: {type: string}, layers: {type: integer}}
END
k wait --for=condition=Established crd/cakes.bakery.example.org --timeout=10s
k get crd cakes.bakery.example.org -o jsonpath={.status.acceptedNames}
k api-resources --api-group=bakery.example.org
k -n shop apply -f - <<'END'
apiVersion: bakery.example.org/v1
kind: Cake
metadata: {name: lemon}
spec: {flavour: lemon, toppings: [{name: sugar}], free: {any: [1, 2]}}
status: {phase: ignored}
END
k -n shop get ck
k -n shop get cake lemon -o wide
k -n shop get cake lemon -o yaml
k -n shop get sweets -o name
k -n shop apply -f - <<'END'
apiVersion: bakery.example.org/v1
kind: Cake
metadata: {name: bad}
spec: {flavour: soap, layers: 20, note: TOO-LONG-NOTE}
END
k -n shop apply -f - <<'END'
apiVersion: bakery.example.org/v1
kind: Cake
metadata: {name: bad}
spec: {layers: two}
END
k -n shop apply -f - <<'END'
apiVersion: bakery.example.org/v1
kind: Cake
metadata: {name: bad}
spec: {flavour: nut, flavor: nut}
END
k -n shop patch cake lemon --type=merge -p '{"spec":{"layers":3}}'
k -n shop get cake lemon -o jsonpath={.metadata.generation}
k -n shop patch cake lemon --subresource=status --type=merge -p '{"status":{"phase":"Baked"},"spec":{"layers":9}}'
k -n shop get cake lemon -o jsonpath={.metadata.generation}/{.spec.layers}/{.status.phase}
k -n shop scale cake lemon --replicas=4
k -n shop get cake lemon -o jsonpath={.spec.layers}
k -n shop patch cake lemon -p '{"spec":{"layers":5}}'
k -n shop patch cake lemon --type=merge -p '{"spec":{"layers":5,"unknown":1}}'
k -n shop wait --for=jsonpath={.status.phase}=Baked cake/lemon --timeout=5s
k explain cake.spec
k explain cake.spec.flavour
k -n shop apply --server-side -f - <<'END'
apiVersion: bakery.example.org/v1
kind: Cake
metadata: {name: ssa}
spec: {flavour: nut, toppings: [{name: sugar, amount: 2}]}
END
k -n shop apply --server-side --field-manager=other -f - <<'END'
apiVersion: bakery.example.org/v1
kind: Cake
metadata: {name: ssa}
spec: {flavour: nut, toppings: [{name: cherry}]}
END
k -n shop get cake ssa -o jsonpath={.spec.toppings}
k -n shop apply --server-side --field-manager=other -f - <<'END'
apiVersion: bakery.example.org/v1
kind: Cake
metadata: {name: ssa}
spec: {flavour: plain}
END
k -n shop describe cake ssa
k -n shop delete cake --all
k delete crd cakes.bakery.example.org
k -n shop get cakes
k apply -f - <<'END'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: wrong.example.org}
spec:
  group: bakery.example.org
  scope: Namespaced
  names: {plural: cakes, kind: Cake}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {}}}}}
END

title explain
k explain configmap.data
k explain deployment.spec.replicas
k explain pod.spec.containers.ports --recursive
k explain nonsense

title other kinds
k -n shop create role reader --verb=get,list --resource=pods
k -n shop create rolebinding reader --role=reader --serviceaccount=shop:default
k -n shop get role,rolebinding
k auth can-i list pods -n shop --as=system:serviceaccount:shop:default
k auth can-i delete pods -n shop --as=system:serviceaccount:shop:default
k -n shop get pods --as=system:serviceaccount:shop:default
k -n shop get secrets --as=system:serviceaccount:shop:default
k -n shop delete pod x --as=system:serviceaccount:shop:default
k get nodes --as=system:serviceaccount:shop:default
k -n shop create quota q --hard=pods=5
k -n shop create pdb p --selector=a=b --min-available=1
k -n shop get pdb p
k -n shop create ingress i --rule=example.org/*=web:80 --class=nginx
k -n shop get ingress i
k -n shop get ingress i -o jsonpath={.spec}
k -n shop create job j --image=busybox --dry-run=server -o jsonpath={.spec.backoffLimit}
k -n shop create cronjob c --image=busybox --schedule='*/5 * * * *'
k -n shop get cronjob c -o jsonpath={.spec.concurrencyPolicy}
k -n shop apply -f - <<'END'
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: h}
spec: {maxReplicas: 3, targetCPUUtilizationPercentage: 70, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
END
k -n shop get hpa h -o jsonpath={.spec.metrics}
k -n shop apply -f - <<'END'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
END
k -n shop get pvc data -o jsonpath={.spec}
k create priorityclass high --value=1000
k get priorityclass high
k -n shop create token default --duration=1m
k create -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {generateName: gen-, namespace: shop}
END
k -n shop apply -f - <<'END'
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: l1}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: l2}}
END
k -n shop apply -f - <<'END'
apiVersion: nothere.example.org/v1
kind: Thing
metadata: {name: x}
END

title garbage
k -n shop create cm owner
own=$(kubectl -n shop get cm owner -o jsonpath='{.metadata.uid}')
k -n shop apply -f - <<END
apiVersion: v1
kind: ConfigMap
metadata: {name: dependent, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: $own, blockOwnerDeletion: true}]}
END
k -n shop delete cm owner
k -n shop wait --for=delete cm/dependent --timeout=10s
k -n shop create cm owner
own=$(kubectl -n shop get cm owner -o jsonpath='{.metadata.uid}')
k -n shop apply -f - <<END
apiVersion: v1
kind: ConfigMap
metadata: {name: dependent, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: $own}]}
END
k -n shop delete cm owner --cascade=orphan
k -n shop get cm dependent -o jsonpath={.metadata.ownerReferences}

title the end
k delete priorityclass high
k delete ns shop --timeout=60s
k get ns shop
