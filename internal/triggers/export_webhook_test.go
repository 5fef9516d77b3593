package triggers

import "net/http"

// Data is what a webhook that selects a path gives the model.
func Data(kind string, body []byte, path string) (text, refusal string, err error) {
	if _, err := parsePath(path); err != nil {
		return "", "", err
	}
	d := definition{Spec: Spec{Select: []string{path}}}
	text, refusal = d.data(http.Header{"Content-Type": {kind}}, body)
	return text, refusal, nil
}
