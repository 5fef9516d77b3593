package wire

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// Fields names the fields of a spec that an update changes, such as model or
// limits.max_steps.
func Fields(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }

// MergePodSpec is a spec with the fields in paths, such as model or limits.max_steps,
// replaced by those of another. Without paths it is the other spec.
func MergePodSpec(spec item.PodSpec, from *poddv1.PodSpec, paths []string) (item.PodSpec, error) {
	if len(paths) == 0 {
		return PodSpecFromProto(from), nil
	}
	merged := PodSpecToProto(spec)
	for _, path := range paths {
		if !copyField(merged.ProtoReflect(), from.ProtoReflect(), path) {
			return item.PodSpec{}, item.Errorf(item.KindUnimplemented, "UNKNOWN_FIELD",
				"the running podd does not know the field %q of a spec: fix update_mask, or install a newer podd and restart it", path)
		}
	}
	return PodSpecFromProto(merged), nil
}

// copyField copies the field that a path names from another message, and says whether the field
// exists.
func copyField(to, from protoreflect.Message, path string) bool {
	name, rest, nested := strings.Cut(path, ".")
	field := to.Descriptor().Fields().ByName(protoreflect.Name(name))
	switch {
	case field == nil, nested && (field.Message() == nil || field.IsList()):
		return false
	case nested:
		return copyField(to.Mutable(field).Message(), from.Get(field).Message(), rest)
	case from.Has(field):
		to.Set(field, from.Get(field))
	default:
		to.Clear(field)
	}
	return true
}
