{{- /* Each part stands as deep as it is used. */ -}}
{{- define "souvenance.labels" }}
    app.kubernetes.io/name: souvenance
    app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "souvenance.pod" }}
      serviceAccountName: default
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext:
        runAsNonRoot: true
        runAsUser: 10001
        runAsGroup: 10001
        fsGroup: 10001
        fsGroupChangePolicy: OnRootMismatch
        seccompProfile: {type: RuntimeDefault}
{{- if .Values.keys }}
      initContainers:
        - name: keys
          image: {{ printf "%s:%s" .Values.image.repository .Values.image.tag | printf "%q" }}
          command: ["sh", "-ec"]
          # A key on the disk is never replaced: lines can't be read without the key that they were stored with.
          args:
            - |
              install -d -m 700 "$SOUVENANCE_HOME"
              for key in root.key signing.key; do
                given="/run/secrets/keys/$key" there="$SOUVENANCE_HOME/$key"
                if [ ! -e "$there" ]; then
                  install -m 600 "$given" "$there.new"
                  mv "$there.new" "$there"
                elif ! cmp -s "$given" "$there"; then
                  echo "The Secret has another $key than $there. Nothing was changed." >&2
                  echo "See 'Keys in a cluster' in docs/howto/run-in-containers.md." >&2
                  exit 1
                fi
              done
          env:
            - {name: SOUVENANCE_HOME, value: /var/lib/souvenance/memory}
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
          volumeMounts:
            - {name: memory, mountPath: /var/lib/souvenance}
            - {name: keys, mountPath: /run/secrets/keys, readOnly: true}
{{- end }}
{{- end }}

{{- define "souvenance.container" }}
          image: {{ printf "%s:%s" .Values.image.repository .Values.image.tag | printf "%q" }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
          env:
            - {name: SOUVENANCE_HOME, value: /var/lib/souvenance/memory}
{{- range $name, $value := .Values.settings }}
            - {name: {{ $name }}, value: {{ printf "%v" $value | printf "%q" }}}
{{- end }}
          resources:
            requests: {cpu: {{ .Values.resources.requests.cpu }}, memory: {{ .Values.resources.requests.memory }}}
            limits: {memory: {{ .Values.resources.limits.memory }}}
          volumeMounts:
            - {name: memory, mountPath: /var/lib/souvenance}
            - {name: tmp, mountPath: /tmp}
{{- if .Values.secret }}
            - {name: secret, mountPath: /run/secrets/souvenance, readOnly: true}
{{- end }}
{{- end }}

{{- define "souvenance.probes" }}
          readinessProbe:
            periodSeconds: 10
            timeoutSeconds: 3
            httpGet:
              path: /ready
              port: http
{{- if .Values.hostNames }}
              httpHeaders: [{name: Host, value: {{ index .Values.hostNames 0 | printf "%q" }}}]
{{- end }}
          livenessProbe:
            periodSeconds: 30
            timeoutSeconds: 5
            failureThreshold: 4
            httpGet:
              path: /health
              port: http
{{- if .Values.hostNames }}
              httpHeaders: [{name: Host, value: {{ index .Values.hostNames 0 | printf "%q" }}}]
{{- end }}
          startupProbe:
            periodSeconds: 2
            failureThreshold: 60
            httpGet:
              path: /health
              port: http
{{- if .Values.hostNames }}
              httpHeaders: [{name: Host, value: {{ index .Values.hostNames 0 | printf "%q" }}}]
{{- end }}
{{- end }}

{{- define "souvenance.volumes" }}
        - {name: tmp, emptyDir: {sizeLimit: 256Mi}}
{{- if .Values.secret }}
        - {name: secret, secret: {secretName: {{ .Values.secret }}, defaultMode: 0400}}
{{- end }}
{{- if .Values.keys }}
        - {name: keys, secret: {secretName: {{ .Values.keys }}, defaultMode: 0400}}
{{- end }}
{{- end }}
