// Package subpods has spawn_pod, the tool by which a pod gives a task to a new pod, a
// sub-pod, and waits for its answer. Like any client it uses only the methods of
// [pod.Host].
//
// A sub-pod gets a part of its parent's permissions and limits, and never more. When its
// turn has ended, its use is billed to the call. A call that an earlier podd started
// finds its sub-pod again and continues to wait.
//
// A call with background writes into its pod's log which sub-pod it started, with which share. That
// entry is pending until one commit stores the letter, the bill and the mark that the end was told
// ([Wing]). Share and bill belong to the pod, not to a turn. Only the pod at the top starts sub-pods
// in the background: one below others could end before those below it, and their bills.
package subpods
