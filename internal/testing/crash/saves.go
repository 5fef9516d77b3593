package crash

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// beganFile and overFile have the number of the cycle whose command overwrites files.
const (
	beganFile = "over-began"
	overFile  = "over-ended"
)

// overwritten are the files that a command overwrites while a person saves them.
var overwritten = []string{"both-0", "both-1", "d-both/x"}

// overwrite is a command that overwrites them for a while, and then runs on for as long.
func (a action) overwrite(id string) string {
	return fmt.Sprintf("echo %[1]d >%[2]s; for i in $(seq %[3]d); do mkdir -p d-both; for f in %[4]s; do echo %[5]s.$i >$f; done; sleep 0.01; "+
		"[ $((i %% 5)) -ne 0 ] || rm -rf both-0 d-both; done; sleep 0.%03[6]d; echo %[1]d >%[7]s",
		a.status, beganFile, a.ms/10, strings.Join(overwritten, " "), id, a.ms, overFile)
}

// save is what a person wrote into a file. theirs says that podd has it as the person's in a turn.
type save struct {
	text   string
	theirs bool
}

// saves are those of one cycle by the file, in their order.
type saves map[string][]save

// allow says whether an undo may leave a file so: with what podd last said it has as the person's, or
// with what the person wrote after that. all is false if podd said nothing about the file.
func (s saves) allow(path, file string) (allowed, all bool) {
	_, text, _ := strings.Cut(file, " ") // The mode is before it.
	for _, v := range slices.Backward(s[path]) {
		allowed = allowed || v.text == text
		if v.theirs {
			return allowed, true
		}
	}
	return true, false
}

// saver is a person who saves files while a command overwrites them, with an editor that says so.
type saver struct {
	*files
	random *rand.Rand
	cycle  int
	all    saves
	// missed counts saves during the command that podd counted in no turn.
	missed int
	wrong  findings
}

// work saves files while the command runs, until ctx ends.
func (s *saver) work(ctx context.Context) {
	if !await(ctx, func() bool { return s.told(beganFile) }) {
		return
	}
	for n := 1; ctx.Err() == nil && !s.told(overFile); n++ {
		path := overwritten[s.random.IntN(len(overwritten))]
		v := save{text: fmt.Sprintf("saved %d.%d", s.cycle, n)}
		err := s.write(path, v.text)
		if errors.Is(err, fs.ErrNotExist) {
			continue // The command removed the directory.
		}
		if err == nil {
			v.theirs, err = s.report(path, v.text)
		}
		if err != nil {
			s.wrong.add("%s: saving %s: %v", s.pod.name, path, err)
		}
		s.all[path] = append(s.all[path], v)
		pause(ctx, time.Duration(s.random.IntN(15))*time.Millisecond)
	}
}

// told says whether the command has come to a place.
func (s *saver) told(file string) bool {
	data, err := os.ReadFile(filepath.Join(s.pod.dir, file))
	return err == nil && string(data) == fmt.Sprintln(s.cycle)
}

// write writes in place, or as editors do that put a new file there.
func (s *saver) write(path, text string) error {
	path = filepath.Join(s.pod.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if s.random.IntN(2) == 0 {
		return os.WriteFile(path, []byte(text), 0o600)
	}
	fresh := filepath.Join(s.dir, "saving")
	if err := os.WriteFile(fresh, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

// report says that a file was saved. It returns whether podd has it as the person's in a turn.
func (s *saver) report(path, text string) (theirs bool, err error) {
	sum := sha256.Sum256([]byte(text))
	resp, err := s.client.FileSaved(s.ctx, &poddv1.FileSavedRequest{Path: filepath.Join(s.pod.dir, path), Sha256: hex.EncodeToString(sum[:])})
	switch {
	case item.ReasonOf(err) == "FILE_CHANGED", s.ctx.Err() != nil:
		return false, nil // The command was faster.
	case err != nil:
		return false, err
	case resp.GetTurns() == 0 && !s.told(overFile):
		s.missed++
	}
	return resp.GetTurns() > 0, nil
}

// count adds the saves to the tally. ended says that podd ended meanwhile: then it may have missed some.
func (s *saver) count(ended bool) {
	for _, all := range s.all {
		for _, v := range all {
			s.tally.act("save", v.theirs)
		}
	}
	if s.missed > 0 && !ended {
		s.wrong.add("%s: %d saves during the command of cycle %d count in no turn", s.pod.name, s.missed, s.cycle)
	}
	s.tally.Other = append(s.tally.Other, s.wrong...)
}
