"""Holds objects against Kubernetes' schemas: YAML on standard input. Prints them as JSON.

It runs where `kubernetes-validate` is installed.
"""

import json
import sys

import kubernetes_validate
import yaml

made = [one for one in yaml.safe_load_all(sys.stdin) if one]
for one in made:
    for version in ("1.29", "1.37"):
        kubernetes_validate.validate(one, version, strict=True)
print(json.dumps(made))
