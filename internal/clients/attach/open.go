package attach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/internal/workspace/picture"
	"podd/pkg/transcript"
)

const (
	// openerGrace is how long an opener that the view ends has for its last words.
	openerGrace = time.Second
	// leastDigest is how many characters of a digest name a picture.
	leastDigest = 4
)

// open opens a picture with the program of the person's system: the last one on the screen, the
// last with a name or a digest, or the one that is so many from the end.
func (a *app) open(args string) {
	list, shown := a.log.images(a.view)
	found, err := pick(list, shown, args)
	if err != nil {
		a.said = err.Error()
		return
	}
	program, err := opener(runtime.GOOS, a.Env)
	if err != nil {
		a.said = fmt.Sprintf("%v; podctl image %s %.12s FILE saves the picture", err, a.pod.GetName(), found.Digest)
		return
	}
	if a.opened == "" {
		dir, err := os.MkdirTemp("", "podctl-")
		if err != nil {
			a.said = "cannot make a directory for the picture: " + err.Error()
			return
		}
		a.opened = dir
	}
	dir := a.opened
	a.begins("opening " + view.Picture(found))
	a.call(func(ctx context.Context) error {
		data, err := a.Client.Image(ctx, found.Digest)
		if err != nil {
			return err
		}
		file, err := private(dir, found, data)
		if err != nil {
			return err
		}
		return run(ctx, program, file)
	}, func(err error) {
		if err != nil {
			a.told(err)
		}
	})
}

// images are the pictures of the transcript in their order, and how many of them are not below
// the screen.
func (t *blockList) images(s scroll) (list []transcript.Image, shown int) {
	for i, b := range t.blocks {
		if b.State != transcript.Queued {
			list = append(list, b.Images...)
		}
		if !s.up || i <= s.block {
			shown = len(list)
		}
	}
	return list, shown
}

// pick finds the picture that a person means.
func pick(list []transcript.Image, shown int, wanted string) (i transcript.Image, err error) {
	if len(list) == 0 {
		return i, errors.New("the transcript has no picture")
	}
	if wanted == "" {
		return list[max(shown, 1)-1], nil
	}
	for _, is := range []func(i transcript.Image) bool{
		func(i transcript.Image) bool { return i.Name == wanted },
		func(i transcript.Image) bool { return path.Base(i.Name) == wanted },
		func(i transcript.Image) bool {
			return len(wanted) >= leastDigest && strings.HasPrefix(i.Digest, wanted)
		},
	} {
		for _, i := range slices.Backward(list) {
			if is(i) {
				return i, nil
			}
		}
	}
	if n, err := strconv.Atoi(wanted); err == nil && n > 0 {
		if n <= len(list) {
			return list[len(list)-n], nil
		}
		return i, fmt.Errorf("the transcript has %s pictures", view.Count(int64(len(list))))
	}
	return i, fmt.Errorf("no picture is named %s; Tab lists them", sanitize.Line(strconv.Quote(wanted)))
}

// pictureNames are the names of the pictures, the last one first.
func (t *blockList) pictureNames() (names []string) {
	list, _ := t.images(scroll{})
	for _, i := range slices.Backward(list) {
		if name := path.Base(i.Name); i.Name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// opener is the program that opens files on a system.
func opener(system string, env func(string) string) (program string, err error) {
	switch {
	case system == "darwin":
		return "open", nil
	case env("DISPLAY") == "" && env("WAYLAND_DISPLAY") == "":
		// Without a screen it would look for a program that uses the terminal.
		return "", errors.New("there is no screen here to open it on")
	}
	return "xdg-open", nil
}

// private writes a picture to a file that only the person can read. Its name comes from what it
// is: a program chooses by it what to do.
func private(dir string, i transcript.Image, data []byte) (file string, err error) {
	kind := strings.TrimPrefix(picture.Kind(data), "image/")
	if kind == "" {
		return "", errors.New("it is not a picture")
	}
	file = filepath.Join(dir, fmt.Sprintf("%.12s.%s", filepath.Base(i.Digest), kind))
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return "", fmt.Errorf("cannot write the picture: %w", err)
	}
	return file, nil
}

// run runs the opener until it ends, apart from the terminal. Some openers end at once, others
// with the program that shows the picture.
func run(ctx context.Context, program, file string) error {
	c := exec.CommandContext(ctx, program, file)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.WaitDelay = openerGrace
	err := c.Run()
	if err == nil || ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	text := strings.Join(strings.Fields(said.String()), " ")
	if text == "" {
		text = err.Error()
	}
	return fmt.Errorf("%s cannot open the picture: %s", program, sanitize.Line(text[:min(len(text), 200)]))
}

// dropOpened removes the pictures that were opened.
func (a *app) dropOpened() {
	if a.opened != "" {
		_ = os.RemoveAll(a.opened)
	}
}
