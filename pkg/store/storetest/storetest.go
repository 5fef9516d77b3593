package storetest

import (
	"context"
	"os"
	"testing"

	"podd/pkg/store"

	"pgregory.net/rapid"
)

// OpenFunc opens the store of dir. The directory is empty at the first call; the same dir
// means the same data, and a store that keeps its data elsewhere may use dir as a name.
// The suite closes a store before it opens the same dir again.
type OpenFunc func(dir string) (store.Store, error)

// T is what a check needs from a test: the part of testing.TB that *testing.T, *rapid.T
// and Recorder have.
type T interface {
	rapid.TB
	Context() context.Context
	Cleanup(func())
}

// Check is one property of a store.
type Check struct {
	Name string
	// Run runs the check on a store that open opens.
	Run func(t T, open OpenFunc)
}

// Run runs all checks as subtests, side by side: most of them wait for the disk.
func Run(t *testing.T, open OpenFunc) {
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.Run(t, open)
		})
	}
}

// Checks are all checks, the quick ones first.
func Checks() []Check {
	return []Check{
		{"PodRecords", onFixture(podRecords)},
		{"PodNamesAreUnique", onFixture(podNamesAreUnique)},
		{"PodsBeginWithALog", onFixture(podsBeginWithALog)},
		{"DeletedPodIsGone", onFixture(deletedPodIsGone)},
		{"TrashedPodsComeBack", onFixture(trashedPodsComeBack)},
		{"SpecIsReplaced", onFixture(specIsReplaced)},
		{"PodIsRenamed", onFixture(podIsRenamed)},
		{"StatusGoesWithTheBatch", onFixture(statusGoesWithTheBatch)},
		{"SequencesAreDense", onFixture(sequencesAreDense)},
		{"EntriesComeBack", onFixture(entriesComeBack)},
		{"ReadRanges", onFixture(readRanges)},
		{"ReadIsBounded", onFixture(readIsBounded)},
		{"ScansPassWhatIsThere", onFixture(scansPassWhatIsThere)},
		{"UnknownPod", onFixture(unknownPod)},
		{"EpochsFence", onFixture(epochsFence)},
		{"BadBatchesAreRefused", onFixture(badBatchesAreRefused)},
		{"RefusedBatchLeavesNoTrace", onFixture(refusedBatchLeavesNoTrace)},
		{"RequestIDsAreAdmittedOnce", onFixture(requestIDsAreAdmittedOnce)},
		{"OldRequestIDsAreForgotten", onFixture(oldRequestIDsAreForgotten)},
		{"InboxKeepsItsOrder", onFixture(inboxKeepsItsOrder)},
		{"InboxIsBounded", onFixture(inboxIsBounded)},
		{"AlertsCountOverAllPods", onFixture(alertsCountOverAllPods)},
		{"AlertsAreChosen", onFixture(alertsAreChosen)},
		{"AlertsAreAcknowledged", onFixture(alertsAreAcknowledged)},
		{"AlertsAreFolded", onFixture(alertsAreFolded)},
		{"OldSequencesAcknowledge", onFixture(oldSequencesAcknowledge)},
		{"ForksShareTheLog", onFixture(forksShareTheLog)},
		{"ForksAreReadInPages", onFixture(forksAreReadInPages)},
		{"ForksShareNothingElse", onFixture(forksShareNothingElse)},
		{"ForksOutliveTheirParent", onFixture(forksOutliveTheirParent)},
		{"BadForksAreRefused", onFixture(badForksAreRefused)},
		{"PurgedRangesAreGone", onFixture(purgedRangesAreGone)},
		{"ForksKeepWhatIsPurged", onFixture(forksKeepWhatIsPurged)},
		{"BadPurgesAreRefused", onFixture(badPurgesAreRefused)},
		{"BasesStandForWhatIsThere", onFixture(basesStandForWhatIsThere)},
		{"ForksHaveTheBase", onFixture(forksHaveTheBase)},
		{"BadBasesAreRefused", onFixture(badBasesAreRefused)},
		{"ImagesStayAsLongAsTheirEntries", onFixture(imagesStayAsLongAsTheirEntries)},
		{"BadImagesAreRefused", onFixture(badImagesAreRefused)},
		{"ImagesAreBounded", onFixture(imagesAreBounded)},
		{"OldAlertsAreDropped", onFixture(oldAlertsAreDropped)},
		{"AcknowledgedIsOnDisk", onFixture(acknowledgedIsOnDisk)},
		{"EverythingSurvivesReopening", onFixture(everythingSurvivesReopening)},
		{"CancelledIsNotWritten", onFixture(cancelledIsNotWritten)},
		{"ClosedRefuses", onFixture(closedRefuses)},
		{"ManyPodsAtOnce", onFixture(manyPodsAtOnce)},
		{"RaceForOneRequestID", onFixture(raceForOneRequestID)},
		{"Model", followsTheModel},
	}
}

// onFixture runs a check on a new store.
func onFixture(run func(f *fixture)) func(T, OpenFunc) {
	return func(t T, open OpenFunc) {
		t.Helper()
		run(newFixture(t, open))
	}
}

// fixture is a store under test.
type fixture struct {
	T
	open OpenFunc
	dir  string
	s    store.Store
}

func newFixture(t T, open OpenFunc) *fixture {
	t.Helper()
	dir, err := os.MkdirTemp("", "storetest")
	if err != nil {
		t.Fatalf("make a directory: %v", err)
	}
	f := &fixture{T: t, open: open, dir: dir}
	t.Cleanup(func() {
		if f.s != nil {
			f.close()
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the directory: %v", err)
		}
	})
	f.reopen()
	return f
}

// reopen closes the store, if one is open, and opens it again.
func (f *fixture) reopen() {
	f.Helper()
	if f.s != nil {
		f.close()
	}
	s, err := f.open(f.dir)
	if err != nil {
		f.Fatalf("open the store: %v", err)
	}
	f.s = s
}

func (f *fixture) close() {
	f.Helper()
	s := f.s
	f.s = nil
	if err := s.Close(); err != nil {
		f.Errorf("close the store: %v", err)
	}
}
