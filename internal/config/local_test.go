package config

import "testing"

func TestLocalEndpoints(t *testing.T) {
	for endpoint, want := range map[string]bool{
		"http://localhost:11434/v1": true, "http://127.0.0.1:8080/v1": true, "http://[::1]:8080": true, "http://192.168.1.9:8000/v1": true,
		"http://10.0.0.3/v1": true, "http://ollama:11434/v1": true, "http://gpu.local/v1": true, "http://models.lan.:80/v1": true,
		"https://api.openai.com/v1": false, "https://openrouter.ai/api/v1": false, "https://llm.example.com/v1": false, "http://8.8.8.8/v1": false,
	} {
		if got := isLocal(endpoint); got != want {
			t.Errorf("%s: %v", endpoint, got)
		}
	}
}
