package files

import (
	"context"

	"google.golang.org/grpc"

	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// Register serves FileService.
func (w *Files) Register(g grpc.ServiceRegistrar) {
	poddv1.RegisterFileServiceServer(g, &service{files: w})
}

type service struct {
	poddv1.UnimplementedFileServiceServer
	files *Files
}

// DiffFiles sends what changed in the files of a pod.
func (s *service) DiffFiles(r *poddv1.DiffFilesRequest, out grpc.ServerStreamingServer[poddv1.DiffFilesResponse]) error {
	shown := Shown{Turn: r.GetTurn(), After: item.Seq(r.GetAfterSeq()), Paths: r.GetPaths()}
	alone := s.files.Alone(out.Context())
	err := s.files.Diff(out.Context(), r.GetPod(), shown, func(c Change) error {
		if alone && c.By == item.ByPerson {
			return nil // It may be another pod's.
		}
		return out.Send(&poddv1.DiffFilesResponse{Part: &poddv1.DiffFilesResponse_File{File: &poddv1.ChangedFile{
			Path: wire.Valid(c.Path), By: wire.CheckpointByToProto(c.By), Before: c.Before, After: c.After, Mode: c.Mode,
			Added: int64(c.Added), Removed: int64(c.Removed), Diff: wire.Valid(s.files.Redact(c.Diff)),
		}}})
	})
	if err != nil {
		return err
	}
	if !r.GetLeftOut() {
		return nil
	}
	left, err := s.files.LeftOut(out.Context(), r.GetPod())
	for _, path := range left {
		if err := out.Send(&poddv1.DiffFilesResponse{Part: &poddv1.DiffFilesResponse_LeftOut{LeftOut: wire.Valid(path)}}); err != nil {
			return err
		}
	}
	return err
}

// RestoreFiles takes changes of files back.
func (s *service) RestoreFiles(ctx context.Context, r *poddv1.RestoreFilesRequest) (*poddv1.RestoreFilesResponse, error) {
	out, err := s.files.Restore(ctx, r.GetPod(), Back{After: item.Seq(r.GetAfterSeq()), Skip: r.GetSkip(), Merge: r.GetMerge(), Dry: r.GetDryRun()})
	if err != nil {
		return nil, err
	}
	return out.ToProto(), nil
}

// ToProto is the answer of RestoreFiles.
func (out TakenBack) ToProto() *poddv1.RestoreFilesResponse {
	resp := &poddv1.RestoreFilesResponse{AfterSeq: int64(out.After), Turn: out.Turn, Changed: int64(out.Changed), Paths: wire.ValidAll(out.Paths), Merged: wire.ValidAll(out.Merged), HeadMoved: out.HeadMoved}
	for _, k := range out.Kept {
		resp.Kept = append(resp.Kept, &poddv1.KeptFile{Path: wire.Valid(k.Path), Why: k.Why})
	}
	return resp
}
