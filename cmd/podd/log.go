package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/pflag"
)

// logFlags set the log's level and format.
type logFlags struct {
	level, format string
}

func (l *logFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&l.level, "log-level", "info", "log level: debug, info, warn or error")
	flags.StringVar(&l.format, "log-format", "", "log format: text or json (default: text on a terminal, otherwise json)")
}

// logger writes to w. Both formats escape control characters.
func (l *logFlags) logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.level)); err != nil {
		return nil, usageError{fmt.Errorf("--log-level %q: use debug, info, warn or error", l.level)}
	}
	options := &slog.HandlerOptions{Level: level}
	if l.format == "" {
		l.format = "json"
		if isTerminal(w) {
			l.format = "text"
		}
	}
	switch l.format {
	case "text":
		options.ReplaceAttr = unquoted
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		options.ReplaceAttr = readable
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, usageError{fmt.Errorf("--log-format %q: use text or json", l.format)}
}

// lost is the line that says how many were lost.
func (l *logFlags) lost(lines int) []byte {
	var text bytes.Buffer
	if logger, err := l.logger(&text); err == nil {
		logger.Warn("lines of the log were lost, because nothing could be written to standard error", "lines", lines)
	}
	return text.Bytes()
}

// unquoted avoids escaped quotes within quotes in the text format.
func unquoted(_ []string, a slog.Attr) slog.Attr {
	if text := a.Value.String(); strings.Contains(text, `"`) {
		a.Value = slog.StringValue(strings.ReplaceAll(text, `"`, "'"))
	}
	return a
}

// readable writes a duration as people and time.ParseDuration read it, not in nanoseconds.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}
