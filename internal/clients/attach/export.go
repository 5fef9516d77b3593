package attach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"podd/internal/clients/export"
	"podd/internal/sanitize"
	"podd/pkg/client"
)

// exportAs reads the arguments of /export: a file, a format, or both. Without a format the
// file's name decides; without a file it is that of the pod.
func exportAs(args, home string) (file, format string, err error) {
	words, err := shellWords(args)
	if err != nil {
		return "", "", err
	}
	if n := len(words); n > 0 && slices.Contains(export.Formats, words[n-1]) {
		words, format = words[:n-1], words[n-1]
	}
	if len(words) > 1 {
		return "", "", fmt.Errorf("/export takes a file and a format: %s; quote a name with blanks", strings.Join(export.Formats, ", "))
	}
	if len(words) == 1 {
		file = words[0]
	}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = filepath.Join(home, rest)
	}
	if format == "" {
		format = export.FormatOf(file)
	}
	return file, format, nil
}

// exportLog writes the conversation to a file.
func (a *app) exportLog(args string) {
	file, format, err := exportAs(args, a.Env("HOME"))
	if err != nil {
		a.said = err.Error()
		return
	}
	pod := a.pod
	if file == "" {
		file = pod.GetName() + "." + format
	}
	a.begins("exporting")
	var done export.Document
	a.call(func(ctx context.Context) (err error) {
		options := client.StreamOptions{Pod: pod.GetId(), After: max(pod.GetFirstSeq()-1, 0)}
		log := export.Log{Pod: pod, Stream: a.Client.Stream(ctx, options), Image: a.Client.Image}
		done, err = log.WriteFile(ctx, file, format, false)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s exists already; give /export another name", sanitize.Line(file))
		}
		if whole, failed := filepath.Abs(file); failed == nil {
			file = whole
		}
		return err
	}, func(err error) {
		a.told(err)
		if err == nil {
			a.log.notice(dim, fmt.Sprintf("· exported #%d to #%d to %s", done.From, done.To, sanitize.Line(file)))
		}
	})
}
