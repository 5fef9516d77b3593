package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"podd/internal/guard/devices"
	"podd/pkg/item"
	"podd/pkg/pod"
	poddv1 "podd/proto/podd/v1"
)

// family are three pods that each ask whether to run a command with their name: mine, its
// sub-pod, and one of somebody else. Nothing of the last one has another word than its name
// has.
type family struct{ mine, below, theirs item.Pod }

const foreign = "foreign"

func (s *stage) family() (f family) {
	s.t.Helper()
	create := func(name string) item.Pod {
		p, err := s.host.Create(s.t.Context(), name, item.PodSpec{Dir: s.t.TempDir(), Ask: "always"})
		check(s.t, err)
		return p
	}
	f.mine, f.theirs = create("mine"), create(foreign)
	var err error
	f.below, err = s.host.Spawn(s.t.Context(), "below", item.PodSpec{Dir: f.mine.Spec.Dir, Ask: "always", Parent: f.mine.ID})
	check(s.t, err)
	// In this order, so that streams have the foreign one first.
	for i, p := range []item.Pod{f.theirs, f.mine, f.below} {
		_, err := poddv1.NewPodServiceClient(s.podd).Submit(withToken(s.t.Context()), &poddv1.SubmitRequest{
			Pod: p.ID, Segments: []*poddv1.Segment{{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: "run needle " + p.Name}}}},
		})
		check(s.t, err)
		await(s.t, "the question of "+p.Name, func() bool {
			list, err := s.host.Approvals(s.t.Context(), "")
			return err == nil && len(list) == i+1
		})
	}
	return f
}

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// ask makes a call on podd's own socket for podd web, with the fields of the request that it
// has, and returns the first answer and the reason of its error.
func (s *stage) ask(conn *grpc.ClientConn, m rpc, bearer string, fields map[string]string) (answer proto.Message, reason string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+bearer)
	fields = maps.Clone(fields)
	maps.DeleteFunc(fields, func(name, _ string) bool { return !m.has(name) })
	text, err := json.Marshal(fields)
	check(s.t, err)
	in := newMessage(m.in)
	check(s.t, protojson.Unmarshal(text, in))
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, m.path)
	check(s.t, err)
	_ = stream.SendMsg(in)
	_ = stream.CloseSend()
	answer = newMessage(m.out)
	return answer, reasonIn(stream.RecvMsg(answer))
}

// aboutAll are the calls that need no pod: a browser that was let in to some gets an answer
// about those.
var aboutAll = []string{
	"AckAlerts", "GetStatus", "GetUsageSeries", "ListAlerts", "ListApprovals", "ListNodes", "ListPods", "Search", "StreamAlerts", "Watch",
}

// A browser that was let in to some pods makes every call about those and their sub-pods, and
// about no other, by name or id, for each scope.
func TestPodScopes(t *testing.T) {
	s := newStage(t)
	f := s.family()
	s.podAnswers(f)
	s.podAlerts(f)
	s.podApprovals(f)
	conn := s.dialWeb()
	for _, scope := range []poddv1.DeviceScope{view, answer, control} {
		have := devices.Scope(strings.ToLower(strings.TrimPrefix(scope.String(), "DEVICE_SCOPE_")))
		bearer := s.pair(scope, "mine").Login()
		for _, m := range allMethods() {
			need, listed := devices.CallScope(m.path)
			if !listed {
				continue // TestScopes has them.
			}
			name := m.path[strings.LastIndex(m.path, "/")+1:]
			for _, pod := range []string{f.theirs.ID, foreign, "nobody", f.mine.ID, "mine", f.below.ID, ""} {
				if pod != "" && !m.has("pod") {
					continue
				}
				_, got := s.ask(conn, m, bearer, map[string]string{"pod": pod, "text": "needle", "reason": "a test"})
				want := ""
				switch {
				case !have.Includes(need):
					want = "DEVICE_SCOPE"
				case pod == "" && !slices.Contains(aboutAll, name), pod == f.theirs.ID, pod == foreign, pod == "nobody":
					want = "DEVICE_PODS"
				}
				if name == "ResolveApproval" && want == "" {
					want = "DEVICE_DIGEST"
				}
				if name == "ResolveApproval" && have.Includes(need) {
					want = "DEVICE_DIGEST" // What no browser may ask comes first.
				}
				if refused := strings.HasPrefix(got, "DEVICE_"); refused != (want != "") || want != "" && got != want {
					t.Errorf("%s of %q with the scope %s: %q, want %q", name, pod, have, got, want)
				}
			}
		}
	}
	s.podNames(f)
}

// What another pod changed in a shared directory is out of reach of a browser that was let in to
// one of them.
func TestChangesOfOthers(t *testing.T) {
	s, dir := newStage(t), t.TempDir()
	run := func(name, command string) {
		t.Helper()
		conn := poddv1.NewPodServiceClient(s.podd)
		_, err := conn.Submit(withToken(t.Context()), &poddv1.SubmitRequest{
			Pod: name, Segments: []*poddv1.Segment{{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: "run " + command}}}},
		})
		check(t, err)
		await(t, "the end of "+command, func() bool {
			list, err := s.host.Approvals(t.Context(), "")
			check(t, err)
			for _, a := range list {
				_, err := s.host.Resolve(t.Context(), pod.Resolution{Pod: name, CallSeq: a.CallSeq, Approve: true, By: "test"})
				check(t, err)
			}
			_, err = os.Stat(filepath.Join(dir, command[strings.LastIndex(command, " ")+1:]))
			p, got := s.host.Get(t.Context(), name)
			return err == nil && got == nil && p.Status.State == item.StateIdle
		})
	}
	for _, name := range []string{"one", "other"} {
		_, err := s.host.Create(t.Context(), name, item.PodSpec{Dir: dir, Ask: "always"})
		check(t, err)
	}
	run("one", "echo mine > fa")
	run("other", "echo theirs > fb")
	run("one", "echo mine > fc")
	for _, grant := range [][]string{nil, {"one"}} {
		stream, text := s.Stream("/podd.v1.FileService/DiffFiles", s.pair(view, grant...).Login(), `{"pod":"one","afterSeq":"1"}`), ""
		for {
			m, last := stream.Next()
			text += string(m.Body)
			if last {
				break
			}
		}
		if !strings.Contains(text, "/fc") || strings.Contains(text, "/fb") != (grant == nil) {
			t.Errorf("a browser of the pods %q sees %s", grant, text)
		}
	}
}

// podAnswers looks for a foreign pod in all that is answered about several.
func (s *stage) podAnswers(f family) {
	all, some := s.pair(view).Login(), s.pair(view, "mine").Login()
	for _, of := range []struct{ path, body string }{
		{"/podd.v1.PodService/ListPods", "{}"},
		{"/podd.v1.ApprovalService/ListApprovals", "{}"},
		{"/podd.v1.AlertService/ListAlerts", "{}"},
		{"/podd.v1.FleetService/GetUsageSeries", `{"by":"USAGE_BY_POD"}`},
	} {
		for _, bearer := range []string{all, some} {
			a := s.Call(of.path, bearer, of.body)
			has := func(p item.Pod) bool {
				return strings.Contains(string(a.Body), p.Name) || strings.Contains(string(a.Body), `"`+p.ID+`"`)
			}
			if a.Status != http.StatusOK || !has(f.mine) || !has(f.below) || has(f.theirs) != (bearer == all) {
				s.t.Errorf("%s answers %d %s", of.path, a.Status, a.Body)
			}
		}
	}
	series := func(bearer, body string) string {
		return string(s.Call("/podd.v1.FleetService/GetUsageSeries", bearer, body).Body)
	}
	if series(all, "{}") == series(some, "{}") || series(some, "{}") != series(s.pair(view, "below", "mine").Login(), "{}") {
		s.t.Errorf("days sum up other pods: %s", series(some, "{}"))
	}
	var status struct{ Pods, PodsLoaded, PodsRunning int }
	check(s.t, json.Unmarshal(s.Call("/podd.v1.AdminService/GetStatus", some, "{}").Body, &status))
	if status.Pods != 2 || status.PodsLoaded+status.PodsRunning != 0 {
		s.t.Errorf("the status counts %+v", status)
	}
	for _, of := range []struct{ path, body, until string }{
		{"/podd.v1.FleetService/Search", `{"text":"needle"}`, ""},
		{"/podd.v1.AlertService/StreamAlerts", `{}`, "below"},
		{"/podd.v1.FleetService/Watch", `{"work":true}`, `"complete"`},
	} {
		for _, bearer := range []string{all, some} {
			stream, text := s.Stream(of.path, bearer, of.body), ""
			for of.until == "" || !strings.Contains(text, of.until) {
				m, last := stream.Next()
				if last {
					break
				}
				text += string(m.Body) + "\n"
			}
			_ = stream.Body.Close()
			if !strings.Contains(text, "mine") || !strings.Contains(text, "below") || strings.Contains(text, foreign) != (bearer == all) {
				s.t.Errorf("%s sends %s", of.path, text)
			}
		}
	}
}

// podApprovals answers a question of a foreign pod as it was shown to another browser.
func (s *stage) podApprovals(f family) {
	some := s.pair(answer, "mine").Login()
	list, err := s.host.Approvals(s.t.Context(), "")
	check(s.t, err)
	for _, a := range list {
		body := s.Encode(map[string]any{"pod": a.Pod, "callSeq": a.CallSeq, "digest": []byte(a.Digest)})
		got := s.Call("/podd.v1.ApprovalService/ResolveApproval", some, body)
		if within := a.Pod != f.theirs.ID; within && got.Status != http.StatusOK || !within && got.Reason() != "DEVICE_PODS" {
			s.t.Errorf("the answer to %s: %d %s", a.PodName, got.Status, got.Body)
		}
	}
}

// podAlerts acknowledges alerts: those of foreign pods and of podd itself are out of reach.
func (s *stage) podAlerts(f family) {
	some := s.pair(answer, "mine").Login()
	var list struct {
		Alerts []struct{ Seq, Pod string }
	}
	check(s.t, json.Unmarshal(s.Call("/podd.v1.AlertService/ListAlerts", s.pair(view).Login(), "{}").Body, &list))
	seen := map[string]bool{}
	for _, a := range list.Alerts {
		seen[a.Pod] = true
		got := s.Call("/podd.v1.AlertService/AckAlerts", some, fmt.Sprintf(`{"seqs":[%q]}`, a.Seq))
		if within := a.Pod == f.mine.ID || a.Pod == f.below.ID; within && got.Status != http.StatusOK || !within && got.Reason() != "DEVICE_PODS" {
			s.t.Errorf("alert %s of pod %q: %d %s", a.Seq, a.Pod, got.Status, got.Body)
		}
	}
	if !seen[""] || !seen[f.mine.ID] || !seen[f.theirs.ID] {
		s.t.Errorf("the alerts are %v", list)
	}
}

// podNames gives names of pods to others: a browser keeps the pods, not the names.
func (s *stage) podNames(f family) {
	some := s.pair(view, "mine").Login()
	get := func(pod string) string {
		a := s.Call("/podd.v1.PodService/GetPod", some, s.Encode(map[string]any{"pod": pod}))
		if a.Status != http.StatusOK {
			return a.Reason()
		}
		var answer struct{ Pod struct{ ID string } }
		check(s.t, json.Unmarshal(a.Body, &answer))
		return answer.Pod.ID
	}
	_, err := s.host.Rename(s.t.Context(), "mine", "renamed")
	check(s.t, err)
	_, err = s.host.Rename(s.t.Context(), foreign, "mine")
	check(s.t, err)
	if got := get("mine"); got != "DEVICE_PODS" {
		s.t.Errorf("the pod with the old name is %q", got)
	}
	if got := get("renamed"); got != f.mine.ID {
		s.t.Errorf("the renamed pod is %q", got)
	}
	_, err = poddv1.NewPodServiceClient(s.podd).DeletePod(withToken(s.t.Context()), &poddv1.DeletePodRequest{Pod: "renamed"})
	check(s.t, err)
	_, err = s.host.Create(s.t.Context(), "renamed", item.PodSpec{Dir: s.t.TempDir()})
	check(s.t, err)
	if got := get("renamed"); got != "DEVICE_PODS" {
		s.t.Errorf("a new pod with the name of a deleted one is %q", got)
	}
	devices, err := poddv1.NewWebServiceClient(s.podd).ListDevices(withToken(s.t.Context()), &poddv1.ListDevicesRequest{})
	check(s.t, err)
	for _, d := range devices.GetDevices() {
		for _, p := range d.GetPods() {
			if p.GetId() == f.mine.ID && p.GetName() != "" {
				s.t.Errorf("the deleted pod is listed as %q", p.GetName())
			}
		}
	}
}
