package wire

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	poddv1 "podd/proto/podd/v1"
)

// APILevel counts the calls, fields and enum values of the API that this program was built
// with. Each version adds more than it removes, so of two programs the one with the higher
// level is newer and knows something that the other does not.
func APILevel() int32 {
	n := 0
	for _, f := range []protoreflect.FileDescriptor{
		poddv1.File_podd_v1_admin_proto, poddv1.File_podd_v1_alert_proto, poddv1.File_podd_v1_approval_proto,
		poddv1.File_podd_v1_entry_proto, poddv1.File_podd_v1_item_proto, poddv1.File_podd_v1_fleet_proto, poddv1.File_podd_v1_job_proto, poddv1.File_podd_v1_mcp_proto,
		poddv1.File_podd_v1_pod_proto,
	} {
		for i := range f.Services().Len() {
			n += f.Services().Get(i).Methods().Len()
		}
		n += countValues(f.Enums()) + countFields(f.Messages())
	}
	return int32(n)
}

func countValues(enums protoreflect.EnumDescriptors) (n int) {
	for i := range enums.Len() {
		n += enums.Get(i).Values().Len()
	}
	return n
}

func countFields(messages protoreflect.MessageDescriptors) (n int) {
	for i := range messages.Len() {
		m := messages.Get(i)
		n += m.Fields().Len() + countFields(m.Messages()) + countValues(m.Enums())
	}
	return n
}
