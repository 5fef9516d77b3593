package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// The log shows durations and quotes in a readable form.
func TestLogIsReadable(t *testing.T) {
	for format, want := range map[string]string{
		"json": `"grace":"10s","error":"no pod \"x\""`,
		"text": `grace=10s error="no pod 'x'"`,
	} {
		var log strings.Builder
		logger, err := (&logFlags{level: "info", format: format}).logger(&log)
		if err != nil {
			t.Fatal(err)
		}
		logger.Info("podd is stopping", "grace", 10*time.Second, "error", errors.New(`no pod "x"`))
		if !strings.Contains(log.String(), want) {
			t.Errorf("%s has no %s: %s", format, want, log.String())
		}
	}
}
