package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	poddv1 "podd/proto/podd/v1"
)

// openStates opens a stored state with this podd and goes on with each of its pods.
func openStates(t *testing.T, file string) {
	if err := os.RemoveAll(statesRoot); err != nil {
		t.Fatal(err)
	}
	unpack(t, file)
	s := startStates(t)
	close(s.gate)
	open(t, "queued")
	s.sameLogs()

	s.result("tool", "through\n", "")
	s.result("lost", "", "may have taken effect")
	s.finished("streaming", 1)
	s.finished("queued", 3)
	s.turn("queued", "say on", 4)
	s.idle()
	s.approve()
	s.turn("compacted", "say on", 4)
	s.is("paused", paused)
	if _, err := s.c.Pods().Resume(t.Context(), &poddv1.ResumeRequest{Pod: "paused"}); err != nil {
		t.Error(err)
	}
	s.result("paused", "through\n", "")
	s.job()
	s.trash()
	s.land()

	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != exitDone {
		t.Errorf("podd ended with %d: %s", code, s.log.String())
	}
	for _, flags := range [][]string{nil, {"--log"}} {
		check := exec.Command(os.Args[0], append([]string{"check", "--state-dir", s.state, "--config", filepath.Join(statesRoot, "config.toml")}, flags...)...)
		check.Env = s.cmd.Env
		if said, err := check.CombinedOutput(); err != nil {
			t.Errorf("podd check %v: %v: %s", flags, err, said)
		}
	}
}

// saveLogs writes down what the log of each pod says.
func (s *states) saveLogs() {
	s.t.Helper()
	list, err := s.c.Pods().ListPods(s.t.Context(), &poddv1.ListPodsRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(statesRoot, "logs"), 0o700); err != nil {
		s.t.Fatal(err)
	}
	for _, p := range list.GetPods() {
		var b bytes.Buffer
		for _, e := range s.logOf(p.GetName()) {
			b.WriteString(s.text(e) + "\n")
		}
		if err := os.WriteFile(filepath.Join(statesRoot, "logs", p.GetName()), b.Bytes(), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// sameLogs checks that each log begins as it was.
func (s *states) sameLogs() {
	s.t.Helper()
	saved, err := filepath.Glob(filepath.Join(statesRoot, "logs", "*"))
	if err != nil || len(saved) != 11 {
		s.t.Fatalf("the logs %q, %v", saved, err)
	}
	for _, path := range saved {
		text, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		log := s.logOf(filepath.Base(path))
		for line := range bytes.Lines(text) {
			// Nothing reads a kind of entry or a field that podd has removed.
			was := &poddv1.Entry{}
			if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(line, was); err != nil {
				s.t.Fatal(err)
			}
			if len(log) == 0 || s.text(log[0]) != s.text(was) {
				s.t.Fatalf("%s: an entry was %v and is %v", path, was, slices.Concat(log, []*poddv1.Entry{nil})[0])
			}
			log = log[1:]
		}
	}
}

// text is an entry by the names of its fields, not by their numbers.
func (s *states) text(e *poddv1.Entry) string {
	s.t.Helper()
	text, err := protojson.Marshal(e)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// result checks that the only call of a pod has one result, and that its turn ended.
func (s *states) result(pod, content, summary string) {
	s.t.Helper()
	results := 0
	for _, e := range s.finished(pod, 1) {
		if r := e.GetItem().GetToolResult(); r != nil {
			results++
			if r.GetContent() != content || r.GetIsError() != (summary != "") || !strings.Contains(r.GetSummary(), summary) {
				s.t.Errorf("%s: the result is %v", pod, r)
			}
		}
	}
	if ran, err := os.ReadFile(filepath.Join(workOf(pod), "ran")); results != 1 || err != nil || string(ran) != "x\n" {
		s.t.Errorf("%s: %d results, and the command wrote %q: %v", pod, results, ran, err)
	}
}

// idle checks what the pod had been given, has kept, changed and left to its fork.
func (s *states) idle() {
	s.t.Helper()
	var digest, cut string
	for _, e := range s.turn("idle", "say on", 3) {
		for _, segment := range e.GetSubmitted().GetSegments() {
			if i := segment.GetImage().GetImage(); i != nil {
				digest = i.GetDigest()
			}
		}
		if at := e.GetItem().GetToolResult().GetCut().GetSpoolPath(); at != "" {
			cut = at
		}
	}
	if got, err := s.c.Pods().GetImage(s.t.Context(), &poddv1.GetImageRequest{Digest: digest}); err != nil || !bytes.Equal(got.GetData(), picture(s.t)) {
		s.t.Errorf("the image %s: %v", digest, err)
	}
	if text, err := os.ReadFile(cut); err != nil || !bytes.Contains(text, []byte("\n999\n1000\n")) {
		s.t.Errorf("the full output has %d bytes: %v", len(text), err)
	}
	made := filepath.Join(workOf("idle"), "made.txt")
	if !exists(made) {
		s.t.Errorf("%s is not there", made)
	}
	if _, err := s.c.Files().RestoreFiles(s.t.Context(), &poddv1.RestoreFilesRequest{Pod: "idle"}); err != nil || exists(made) {
		s.t.Errorf("what the pod changed is not taken back: %v", err)
	}
	s.turn("fork", "say on", 2)
}

// approve answers the open question.
func (s *states) approve() {
	s.t.Helper()
	list, err := s.c.Approvals().ListApprovals(s.t.Context(), &poddv1.ListApprovalsRequest{})
	if err != nil || len(list.GetApprovals()) != 1 {
		s.t.Fatalf("open questions: %v, %v", list, err)
	}
	a := list.GetApprovals()[0]
	_, err = s.c.Approvals().ResolveApproval(s.t.Context(), &poddv1.ResolveApprovalRequest{
		Pod: a.GetPod(), CallSeq: a.GetCallSeq(), Approve: true, Client: "test", Digest: a.GetDigest(),
	})
	if err != nil {
		s.t.Error(err)
	}
	s.result("approval", "", "")
}

// job checks that the end of the job is known, and that the pod goes on.
func (s *states) job() {
	s.t.Helper()
	untilOf(s.t, s.c, "job", func(e *poddv1.Entry) bool {
		return e.GetJob().GetState() == poddv1.JobState_JOB_STATE_ENDED && strings.Contains(e.GetJob().GetStatus(), "unknown")
	})
	list, err := s.c.Jobs().ListJobs(s.t.Context(), &poddv1.ListJobsRequest{Pod: "job"})
	if err != nil || len(list.GetJobs()) != 1 {
		s.t.Errorf("the jobs %v, %v", list, err)
	}
	s.finished("job", 2) // The end of the job began it.
	s.turn("job", "say on", 3)
}

// trash brings the deleted pod back.
func (s *states) trash() {
	s.t.Helper()
	if _, err := s.c.Pods().RestorePod(s.t.Context(), &poddv1.RestorePodRequest{Pod: "trash"}); err != nil {
		s.t.Error(err)
	}
	s.turn("trash", "say on", 2)
}

// land brings the work of the checkout home.
func (s *states) land() {
	s.t.Helper()
	s.turn("checkout", "say on", 2)
	if _, err := s.c.Checkouts().LandCheckout(s.t.Context(), &poddv1.LandCheckoutRequest{Pod: "checkout"}); err != nil {
		s.t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(statesRoot, "repo", "work.txt")); string(text) != "written" {
		s.t.Errorf("what landed is %q: %v", text, err)
	}
}

// pack writes all below statesRoot into one file.
func pack(t *testing.T, file string) {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	err = filepath.WalkDir(statesRoot, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSocket != 0 {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		target, _ := os.Readlink(path)
		head, err := tar.FileInfoHeader(info, target)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(statesRoot, path)
		if err != nil {
			return err
		}
		// Nothing of the machine that made it.
		head.Name, head.Uid, head.Gid, head.Uname, head.Gname = rel, 0, 0, "", ""
		if err := w.WriteHeader(head); err != nil || !info.Mode().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	err = errors.Join(err, w.Close(), z.Close(), os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, b.Bytes(), 0o644)) //nolint:gosec // It is a file of the repository.
	if err != nil {
		t.Fatal(err)
	}
}

// unpack is the reverse of pack.
func unpack(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path, mode := filepath.Join(statesRoot, head.Name), head.FileInfo().Mode()
		switch {
		case mode.IsDir():
			err = os.MkdirAll(path, 0o700)
		case mode&fs.ModeSymlink != 0:
			err = os.Symlink(head.Linkname, path)
		default:
			var text []byte
			if text, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, text, mode.Perm())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
