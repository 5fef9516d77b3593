package item_test

import (
	"strings"
	"testing"

	"podd/pkg/item"
)

func TestValidPodName(t *testing.T) {
	for name, want := range map[string]bool{
		"api": true, "a": true, "2nd-try": true, "api-": true, strings.Repeat("x", 63): true,
		"": false, "-api": false, "Api": false, "a.b": false, "a b": false, "ä": false, "12": false, "1-2": false, strings.Repeat("x", 64): false,
	} {
		if got := item.ValidPodName(name); got != want {
			t.Errorf("ValidPodName(%q) = %t, want %t", name, got, want)
		}
	}
	if !item.ValidPodRef("pod_abcdef") || item.ValidPodRef("pod_") || item.ValidPodName("pod_abcdef") {
		t.Error("an id refers to a pod, and is no name")
	}
}
