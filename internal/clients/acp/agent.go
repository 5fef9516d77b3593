package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"

	"podd/internal/podname"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// loginMethod is the only way to log in: the socket belongs to the person, and podd has the keys of models.
const loginMethod = "podd"

// loginHint says what to do instead of a login.
const loginHint = "podd has the keys of your models: run podctl setup once"

// initialize reports what podd can do, in the newest version that both know.
func (a *agent) initialize(ctx context.Context, params json.RawMessage) (any, error) {
	var asked struct {
		ProtocolVersion int `json:"protocolVersion"`
	}
	_ = json.Unmarshal(params, &asked) // The version's own parser says what is wrong.
	a.second.Store(asked.ProtocolVersion >= secondVersion)
	if a.second.Load() {
		return a.initializeSecond(params)
	}
	return on(a.initializeFirst)(ctx, params)
}

// meet notes who the editor is and what it can do.
func (a *agent) meet(name string, e *acp.ElicitationCapabilities) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.editor = valid(cmp.Or(name, "editor"))
	a.forms = e != nil && e.Form != nil
}

// initializeFirst reports what podd can do, in version 1.
func (a *agent) initializeFirst(_ context.Context, p acp.InitializeRequest) (any, error) {
	name := ""
	if p.ClientInfo != nil {
		name = p.ClientInfo.Name
	}
	a.meet(name, p.ClientCapabilities.Elicitation)
	return deleting(acp.InitializeResponse{
		ProtocolVersion: acp.ProtocolVersionNumber,
		AgentInfo:       &acp.Implementation{Name: "podd", Title: acp.Ptr("podd"), Version: a.Version},
		AuthMethods: []acp.AuthMethod{{Agent: &acp.AuthMethodAgent{
			Id: loginMethod, Name: "podd", Description: acp.Ptr(loginHint),
		}}},
		AgentCapabilities: acp.AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: acp.PromptCapabilities{EmbeddedContext: true, Image: true},
			SessionCapabilities: acp.SessionCapabilities{
				List:                  &acp.SessionListCapabilities{},
				Resume:                &acp.SessionResumeCapabilities{},
				AdditionalDirectories: &acp.SessionAdditionalDirectoriesCapabilities{},
				Close:                 &acp.SessionCloseCapabilities{},
				Fork:                  &acp.SessionForkCapabilities{},
			},
		},
	})
}

// deleting adds session/delete to what podd can do. The protocol has it, its library does not yet.
func deleting(resp acp.InitializeResponse) (any, error) {
	text, err := json.Marshal(resp)
	if err != nil {
		return nil, err
	}
	m := make(map[string]any)
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	m["agentCapabilities"].(map[string]any)["sessionCapabilities"].(map[string]any)["delete"] = struct{}{}
	return m, nil
}

// authenticate has nothing to do but for a method that there is not.
func (a *agent) authenticate(_ context.Context, p acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	if p.MethodId != loginMethod {
		return acp.AuthenticateResponse{}, item.Errorf(item.KindInvalid, "LOGIN", "there is no login %q: use %s", p.MethodId, loginMethod)
	}
	return acp.AuthenticateResponse{}, nil
}

// client identifies the editor to other clients of podd.
func (a *agent) client() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return "acp: " + a.editor
}

// elicits says whether the editor can show forms.
func (a *agent) elicits() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.forms
}

// newSession creates a pod with the editor's directory as its workspace, or joins the pod
// that all sessions share.
func (a *agent) newSession(ctx context.Context, p acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	from := wholeLog
	var pod *poddv1.Pod
	var err error
	if a.Pod != "" {
		from = fromNow
		pod, err = a.pod(ctx, a.Pod)
	} else {
		pod, err = a.create(ctx, p.Cwd, p.AdditionalDirectories)
	}
	if err != nil {
		return acp.NewSessionResponse{}, err
	}
	return a.begun(ctx, pod, from, p.Cwd, p.McpServers)
}

// begun is a new session.
func (a *agent) begun(ctx context.Context, pod *poddv1.Pod, from origin, cwd string, servers []acp.McpServer) (acp.NewSessionResponse, error) {
	// It shows nothing before the first prompt: until the editor has this answer, it does
	// not know the session.
	s, err := a.open(pod, from, cwd, servers)
	if err != nil {
		return acp.NewSessionResponse{}, err
	}
	a.out.once(s.id, func() {
		if a.begin() { // Not a goroutine of the session: that may be closed just now.
			go func() {
				defer a.calls.Done()
				s.introduce()
				if a.second.Load() {
					s.startReading()
				}
			}()
		}
	})
	return acp.NewSessionResponse{SessionId: s.id, Modes: modes(pod), ConfigOptions: s.options(ctx)}, nil
}

// loadSession opens a pod and shows its history before it answers.
func (a *agent) loadSession(ctx context.Context, p acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	s, pod, err := a.reopen(ctx, p.SessionId, wholeLog, p.Cwd, p.McpServers)
	if err != nil {
		return acp.LoadSessionResponse{}, err
	}
	return acp.LoadSessionResponse{Modes: modes(pod), ConfigOptions: s.options(ctx)}, nil
}

// resumeSession opens a pod whose history the editor already has.
func (a *agent) resumeSession(ctx context.Context, p acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	s, pod, err := a.reopen(ctx, p.SessionId, fromNow, p.Cwd, p.McpServers)
	if err != nil {
		return acp.ResumeSessionResponse{}, err
	}
	return acp.ResumeSessionResponse{Modes: modes(pod), ConfigOptions: s.options(ctx)}, nil
}

// listSessions lists the pods, most recently used first, without sub-pods.
func (a *agent) listSessions(ctx context.Context, p acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	req := &poddv1.ListPodsRequest{}
	if p.Cwd != nil {
		req.Dir = valid(*p.Cwd)
	}
	resp, err := a.Client.Pods().ListPods(ctx, req)
	if err != nil {
		return acp.ListSessionsResponse{}, err
	}
	pods := slices.DeleteFunc(resp.GetPods(), func(p *poddv1.Pod) bool { return p.GetSpec().GetParent() != "" })
	slices.SortStableFunc(pods, func(x, y *poddv1.Pod) int {
		return cmp.Compare(y.GetLastActivity().AsTime().UnixNano(), x.GetLastActivity().AsTime().UnixNano())
	})
	list := acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}
	for _, pod := range pods {
		list.Sessions = append(list.Sessions, acp.SessionInfo{
			SessionId: sessionID(pod), Cwd: pod.GetSpec().GetDir(), AdditionalDirectories: pod.GetSpec().GetWrite(),
			Title: acp.Ptr(pod.GetName()), UpdatedAt: acp.Ptr(pod.GetLastActivity().AsTime().Format(time.RFC3339)),
		})
	}
	return list, nil
}

// sessionID identifies a pod to editors: its id, which is never reused.
func sessionID(pod *poddv1.Pod) acp.SessionId { return acp.SessionId(pod.GetId()) }

func (a *agent) pod(ctx context.Context, name string) (*poddv1.Pod, error) {
	resp, err := a.Client.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: valid(name)})
	return resp.GetPod(), err
}

// named makes a pod with a name that is free.
func (a *agent) named(ctx context.Context, base string, with func(name string) (*poddv1.Pod, error)) (*poddv1.Pod, error) {
	list, err := a.Client.Pods().ListPods(ctx, &poddv1.ListPodsRequest{})
	if err != nil {
		return nil, err
	}
	taken := make(map[string]bool)
	for _, pod := range list.GetPods() {
		taken[pod.GetName()] = true
	}
	for n := 1; ; n++ {
		name := podname.Numbered(base, n)
		if taken[name] {
			continue
		}
		pod, err := with(name)
		if item.KindOf(err) != item.KindExists {
			return pod, err
		}
	}
}

// create creates a pod, named after its workspace.
func (a *agent) create(ctx context.Context, dir string, more []string) (*poddv1.Pod, error) {
	spec := &poddv1.PodSpec{Dir: valid(dir)}
	for _, dir := range more {
		spec.Write = append(spec.Write, valid(dir))
	}
	return a.named(ctx, podname.For(filepath.Base(dir)), func(name string) (*poddv1.Pod, error) {
		resp, err := a.Client.Pods().CreatePod(ctx, &poddv1.CreatePodRequest{Name: name, Spec: spec})
		return resp.GetPod(), err
	})
}

// forkRequest names the session to fork.
type forkRequest struct {
	deleteRequest
	Cwd string `json:"cwd"`
}

// Validate refuses a request without a session or a directory.
func (r *forkRequest) Validate() error {
	if r.Cwd == "" {
		return errors.New("cwd is required")
	}
	return r.deleteRequest.Validate()
}

// forkSession begins a session that goes on from another one's history, which the editor has.
func (a *agent) forkSession(ctx context.Context, p forkRequest) (any, error) {
	from, err := a.pod(ctx, string(p.SessionID))
	if err != nil {
		return nil, err
	}
	pod, err := a.named(ctx, from.GetName(), func(name string) (*poddv1.Pod, error) {
		resp, err := a.Client.Pods().ForkPod(ctx, &poddv1.ForkPodRequest{Pod: from.GetId(), Name: name})
		return resp.GetPod(), err
	})
	if err != nil {
		return nil, err
	}
	resp, err := a.begun(ctx, pod, fromNow, p.Cwd, nil)
	if err != nil || !a.second.Load() {
		return resp, err
	}
	return secondSession(resp), nil
}

// reopen starts a session on a pod, and returns once the history that it shows has been
// sent.
func (a *agent) reopen(ctx context.Context, id acp.SessionId, from origin, cwd string, servers []acp.McpServer) (*session, *poddv1.Pod, error) {
	pod, err := a.pod(ctx, string(id))
	if err != nil {
		return nil, nil, err
	}
	s, err := a.open(pod, from, cwd, servers)
	if err != nil {
		return nil, nil, err
	}
	s.introduce()
	return s, pod, s.ready(ctx)
}

// closeSession ends the session's prompts, as the protocol wants, and closes it. The pod stays, with what others gave it.
func (a *agent) closeSession(ctx context.Context, p acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	s, err := a.session(p.SessionId)
	if err != nil {
		return acp.CloseSessionResponse{}, err
	}
	if ids := s.stopWaiting(); len(ids) > 0 {
		s.stop(ctx, ids)
	}
	a.shut(s)
	return acp.CloseSessionResponse{}, nil
}

// shut closes a session, whose prompts get no other answer.
func (a *agent) shut(s *session) {
	s.end(outcome{withdrawn: true})
	a.mu.Lock()
	if a.sessions[s.id] == s {
		delete(a.sessions, s.id)
	}
	a.mu.Unlock()
	s.close()
}

// methodDelete deletes a session of the list.
const methodDelete = "session/delete"

// deleteRequest names the session that session/delete deletes.
type deleteRequest struct {
	SessionID acp.SessionId `json:"sessionId"`
}

// Validate refuses a request without a session.
func (r *deleteRequest) Validate() error {
	if r.SessionID == "" {
		return errors.New("sessionId is required")
	}
	return nil
}

// deleteSession moves a pod to the trash, from which podctl restore brings it back.
func (a *agent) deleteSession(ctx context.Context, p deleteRequest) (struct{}, error) {
	_, err := a.Client.Pods().DeletePod(ctx, &poddv1.DeletePodRequest{Pod: valid(string(p.SessionID))})
	return struct{}{}, err
}

// open starts a session on a pod. If one is already open, it is replaced.
func (a *agent) open(pod *poddv1.Pod, from origin, cwd string, servers []acp.McpServer) (*session, error) {
	s := newSession(a, pod, from)
	if names := serverNames(servers); len(names) > 0 {
		s.first = append(s.first, fmt.Sprintf("the editor's MCP servers (%s) are ignored: add them to podd's config.toml under [mcp.servers]", strings.Join(names, ", ")))
	}
	if dir := pod.GetSpec().GetDir(); !sameDir(cwd, dir) {
		s.first = append(s.first, fmt.Sprintf("pod %s works in %s, not in %s", pod.GetName(), dir, cwd))
	}
	a.mu.Lock()
	before, closed := a.sessions[s.id], a.closed
	if !closed {
		if before != nil {
			s.prompts = before.reopened(s.first)
		}
		a.sessions[s.id] = s
	}
	a.mu.Unlock()
	if closed {
		return nil, context.Canceled
	}
	if before != nil {
		before.close()
		if s.anyWaits() {
			s.startReading()
		}
	}
	return s, nil
}

// session is an open session.
func (a *agent) session(id acp.SessionId) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[id]; s != nil {
		return s, nil
	}
	return nil, item.Errorf(item.KindNotFound, "NO_SESSION", "session %s is not open: load it first", id)
}

// sameDir says whether two paths name the same directory.
func sameDir(a, b string) bool {
	target, err := filepath.EvalSymlinks(a)
	return err == nil && target == b || a == b
}

func serverNames(servers []acp.McpServer) (names []string) {
	for _, s := range servers {
		switch {
		case s.Stdio != nil:
			names = append(names, s.Stdio.Name)
		case s.Http != nil:
			names = append(names, s.Http.Name)
		case s.Sse != nil:
			names = append(names, s.Sse.Name)
		case s.Acp != nil:
			names = append(names, s.Acp.Name)
		}
	}
	return names
}

// valid is text that a message of podd can carry.
func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
