#include "tests/ops/few_goldens.hpp"

namespace troupe::test {
namespace {

// Several ops with the same reason.
struct exception_group {
  std::string_view reason;
  std::vector<std::string_view> ops;
};

// A case is one step on one device, without files, whose values can be written as text.
std::vector<exception_group> ops_beyond_a_case() {
  return {
      {"functions are no values of a case; tests/graphs/tensorflow/control_flow.py",
       {"Case", "If", "PartitionedCall", "StatefulPartitionedCall", "StatelessCase", "StatelessIf",
        "StatelessWhile", "While"}},
      {"a list is no value of a case; tests/graphs/tensorflow/sequences.py",
       {"EmptyTensorList",        "OptionalFromValue",
        "OptionalGetValue",       "OptionalHasValue",
        "OptionalNone",           "TensorListConcat",
        "TensorListConcatLists",  "TensorListConcatV2",
        "TensorListElementShape", "TensorListFromTensor",
        "TensorListGather",       "TensorListGetItem",
        "TensorListLength",       "TensorListPopBack",
        "TensorListPushBack",     "TensorListPushBackBatch",
        "TensorListReserve",      "TensorListResize",
        "TensorListScatter",      "TensorListScatterIntoExistingList",
        "TensorListScatterV2",    "TensorListSetItem",
        "TensorListSplit",        "TensorListStack"}},
      {"a case has one device; tests/actors/execution/collective_region_test.cpp",
       {"CollectiveBcastRecv", "CollectiveBcastSend", "CollectiveGather", "CollectiveReduce",
        "CollectiveReduceScatter"}},
      {"a case is one step, a table needs several",
       {"HashTable", "HashTableV2", "InitializeTable", "InitializeTableV2", "LookupTableExport",
        "LookupTableExportV2", "LookupTableFind", "LookupTableFindV2", "LookupTableImport",
        "LookupTableImportV2", "LookupTableInsert", "LookupTableInsertV2", "LookupTableRemoveV2",
        "LookupTableSize", "LookupTableSizeV2", "MutableHashTable", "MutableHashTableOfTensors",
        "MutableHashTableOfTensorsV2", "MutableHashTableV2"}},
      {"it reads a file; tests/ops/lookup_ops_test.cpp",
       {"InitializeTableFromTextFile", "InitializeTableFromTextFileV2"}},
      {"a case has no files; tests/api/save_restore_test.cpp",
       {"DisableCopyOnRead", "MergeV2Checkpoints", "Restore", "RestoreSlice", "RestoreV2", "Save",
        "SaveSlices", "SaveV2", "ShardedFilename", "ShardedFilespec"}},
  };
}

// Ops whose results a case cannot compare, or that the cases of other ops contain.
std::vector<exception_group> ops_without_comparable_results() {
  return {
      {"others draw other numbers",
       {"FixedUnigramCandidateSampler",
        "LearnedUnigramCandidateSampler",
        "LogUniformCandidateSampler",
        "Multinomial",
        "ParameterizedTruncatedNormal",
        "RandomGamma",
        "RandomPoisson",
        "RandomPoissonV2",
        "RandomShuffle",
        "RandomStandardNormal",
        "RandomUniform",
        "RandomUniformInt",
        "StatefulStandardNormalV2",
        "StatefulTruncatedNormal",
        "StatefulUniform",
        "StatelessRandomNormal",
        "StatelessRandomNormalV2",
        "StatelessRandomUniform",
        "StatelessRandomUniformV2",
        "StatelessTruncatedNormal",
        "StatelessTruncatedNormalV2",
        "ThreadUnsafeUnigramCandidateSampler",
        "TruncatedNormal",
        "UniformCandidateSampler"}},
      {"the cases of what changes variables have some", {"VarHandleOp", "VariableV2"}},
      {"tests/graphs/handles.txt has steps with them",
       {"DestroyTemporaryVariable", "TemporaryVariable"}},
  };
}

// Ops that have a reason of their own.
std::vector<exception> ops_with_own_reason() {
  return {
      {"Abort", "it ends the process in TensorFlow"},
      {"AudioSummary", "TensorFlow has taken it out; AudioSummaryV2 has cases"},
      {"Const", "every case has some"},
      {"DensifyTopK", "TensorFlow has none; tests/ops/sparsify_top_k_test.cpp"},
      {"SparsifyTopK", "TensorFlow has none; tests/ops/sparsify_top_k_test.cpp"},
      {"DestroyResourceOp", "what it leaves is an error; tests/graphs/handles.txt"},
      {"ImageSummary", "PNG files of the same pixels differ; tests/ops/summary_test.cpp"},
      {"NoOp", "it computes nothing"},
      {"ParseExampleV2", "tests/graphs/tensorflow/readers.py has a program with it"},
      {"Placeholder", "it has a value only when it is fed"},
      {"StatelessRandomGetAlg", "it has no inputs: one case would be all"},
      {"TopK", "TensorFlow has dropped it; TopKV2 runs the same kernel"},
      {"Variable", "VariableV2 with a shape that is not known; tests/graphs/handles.txt"},
  };
}

} // namespace

std::vector<exception> few_goldens() {
  auto exceptions = ops_with_own_reason();
  for (const auto& groups : {ops_beyond_a_case(), ops_without_comparable_results()})
    for (const auto& [reason, ops] : groups)
      for (auto op : ops)
        exceptions.push_back({op, reason});
  for (const auto* op : library().ops())
    if (op->name.starts_with("TensorArray") || op->name.starts_with("Stack"))
      exceptions.push_back(
          {op->name, "a handle is no value of a case; tests/graphs/tensorflow/arrays.py"});
  for (const auto* op : library().ops())
    if (op->start_operation || op->make_waitable_resource)
      exceptions.push_back({op->name, "a case is one step, what waits needs several"});
  return exceptions;
}

} // namespace troupe::test
