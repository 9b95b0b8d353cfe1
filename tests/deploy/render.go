// Renders templates with Go's own engine: the files that are named, with the values on standard input as JSON.
// Prints what became of each, as one JSON object.
package main

import (
	"encoding/json"
	"os"
	"strings"
	"text/template"
)

func main() {
	var values map[string]any
	check(json.NewDecoder(os.Stdin).Decode(&values))
	rendered := map[string]string{}
	for _, path := range os.Args[1:] {
		text, err := os.ReadFile(path)
		check(err)
		parsed, err := template.New(path).Parse(string(text))
		check(err)
		var out strings.Builder
		check(parsed.Execute(&out, values))
		rendered[path] = out.String()
	}
	check(json.NewEncoder(os.Stdout).Encode(rendered))
}

func check(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
