package bridge

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// method is a call of podd with a single answer.
type method struct {
	full          string
	input, output protoreflect.MessageType
}

// podMethods are all such calls, by name without the service.
func podMethods() map[string]method {
	all := make(map[string]method)
	for _, f := range []protoreflect.FileDescriptor{
		poddv1.File_podd_v1_pod_proto, poddv1.File_podd_v1_alert_proto,
		poddv1.File_podd_v1_approval_proto, poddv1.File_podd_v1_admin_proto, poddv1.File_podd_v1_job_proto,
		poddv1.File_podd_v1_mcp_proto, poddv1.File_podd_v1_fleet_proto, poddv1.File_podd_v1_file_proto,
	} {
		for i := range f.Services().Len() {
			service := f.Services().Get(i)
			for j := range service.Methods().Len() {
				m := service.Methods().Get(j)
				if m.IsStreamingClient() || m.IsStreamingServer() {
					continue
				}
				all[string(m.Name())] = method{
					full:  "/" + string(service.FullName()) + "/" + string(m.Name()),
					input: typeOf(m.Input()), output: typeOf(m.Output()),
				}
			}
		}
	}
	return all
}

// typeOf is the generated type of a message; all of podd.v1 are linked in.
func typeOf(m protoreflect.MessageDescriptor) protoreflect.MessageType {
	t, err := protoregistry.GlobalTypes.FindMessageByName(m.FullName())
	if err != nil {
		panic("bridge: " + err.Error())
	}
	return t
}

// call executes a request and returns its result.
func (b *bridge) call(ctx context.Context, r request) (json.RawMessage, error) {
	switch r.Method {
	case "Unstream":
		return b.unstream(ctx, r)
	case "FindPod":
		return b.findPod(ctx, r)
	}
	m, ok := b.methods[r.Method]
	if !ok {
		return nil, item.Errorf(item.KindUnimplemented, "UNKNOWN_METHOD",
			"unknown method %q: use the name of a call of podd.v1, or Blocks, Unstream or FindPod", clip(r.Method))
	}
	in, out := m.input.New().Interface(), m.output.New().Interface()
	if err := params(r, in); err != nil {
		return nil, err
	}
	// A submit is repeated while podd restarts, and counts once.
	var err error
	if submit, ok := in.(*poddv1.SubmitRequest); ok {
		out, err = b.client.Submit(ctx, submit)
	} else {
		err = b.client.Conn().Invoke(ctx, m.full, in, out)
	}
	if err != nil {
		return nil, err
	}
	if !reads(r.Method) {
		b.streams.touch()
	}
	return wire.JSON(out)
}

// reads says that a call does not change a pod's state.
func reads(method string) bool {
	for _, start := range []string{"Get", "List", "Complete", "Check"} {
		if strings.HasPrefix(method, start) {
			return true
		}
	}
	return false
}

// params reads the parameters of a request into a message.
func params(r request, m proto.Message) error {
	if len(r.Params) == 0 {
		return nil
	}
	if err := protojson.Unmarshal(r.Params, m); err != nil {
		// protojson varies its spaces on purpose.
		why := strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\u00a0", " "), "proto: ")
		return badParams(r, why)
	}
	return nil
}

func badParams(r request, why string) error {
	return item.Errorf(item.KindInvalid, "BAD_PARAMS", "invalid params of %s: %s; docs/clients.md and proto/podd/v1 describe them", clip(r.Method), why)
}

// clip shortens quoted text.
func clip(text string) string {
	if len(text) <= 64 {
		return text
	}
	return strings.ToValidUTF8(text[:64], "") + "…"
}

// findPod is the pod of a directory.
func (b *bridge) findPod(ctx context.Context, r request) (json.RawMessage, error) {
	var p struct {
		Dir    string `json:"dir"`
		Create bool   `json:"create"`
	}
	if err := plainParams(r, &p); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(p.Dir) {
		return nil, badParams(r, "dir must be the absolute path of a directory")
	}
	dir, err := filepath.EvalSymlinks(p.Dir)
	if err != nil {
		return nil, item.Errorf(item.KindInvalid, "BAD_DIR", "the directory %s does not exist", clip(p.Dir))
	}
	name, created, err := b.config.FindPod(ctx, dir, p.Create)
	if err != nil {
		return nil, err
	}
	resp, err := b.client.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: name})
	if err != nil {
		return nil, err
	}
	pod, err := wire.JSON(resp.GetPod())
	if err != nil {
		return nil, err
	}
	return lineOf(struct {
		Pod     json.RawMessage `json:"pod"`
		Created bool            `json:"created"`
	}{pod, created}), nil
}

// plainParams reads the parameters of one of the bridge's own methods.
func plainParams(r request, to any) error {
	if len(r.Params) == 0 {
		return nil
	}
	if err := decode(r.Params, to, nil); err != nil {
		return badParams(r, err.Error())
	}
	return nil
}
