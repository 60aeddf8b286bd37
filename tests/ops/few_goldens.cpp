#include "tests/ops/few_goldens.hpp"

namespace troupe::test {

std::vector<exception> few_goldens() {
  std::vector<exception> all{
      {"AudioSummary", "TensorFlow has taken it out; AudioSummaryV2 has cases"},
      {"CollectiveBcastRecv", "a case has one device; tests/actors/collective_region_test.cpp"},
      {"CollectiveBcastSend", "a case has one device; tests/actors/collective_region_test.cpp"},
      {"CollectiveGather", "a case has one device; tests/actors/collective_region_test.cpp"},
      {"CollectiveReduce", "a case has one device; tests/actors/collective_region_test.cpp"},
      {"CollectiveReduceScatter", "a case has one device; tests/actors/collective_region_test.cpp"},
      {"Const", "every case has some"},
      {"DestroyResourceOp", "what it leaves is an error; tests/graphs/handles.txt"},
      {"DestroyTemporaryVariable", "tests/graphs/handles.txt has steps with them"},
      {"FixedUnigramCandidateSampler", "others draw other numbers"},
      {"HashTable", "a case is one step, a table needs several"},
      {"HashTableV2", "a case is one step, a table needs several"},
      {"ImageSummary", "PNG files of the same pixels differ; tests/ops/summary_test.cpp"},
      {"InitializeTable", "a case is one step, a table needs several"},
      {"InitializeTableFromTextFile", "it reads a file; tests/ops/lookup_ops_test.cpp"},
      {"InitializeTableFromTextFileV2", "it reads a file; tests/ops/lookup_ops_test.cpp"},
      {"InitializeTableV2", "a case is one step, a table needs several"},
      {"LearnedUnigramCandidateSampler", "others draw other numbers"},
      {"LogUniformCandidateSampler", "others draw other numbers"},
      {"LookupTableExport", "a case is one step, a table needs several"},
      {"LookupTableExportV2", "a case is one step, a table needs several"},
      {"LookupTableFind", "a case is one step, a table needs several"},
      {"LookupTableFindV2", "a case is one step, a table needs several"},
      {"LookupTableImport", "a case is one step, a table needs several"},
      {"LookupTableImportV2", "a case is one step, a table needs several"},
      {"LookupTableInsert", "a case is one step, a table needs several"},
      {"LookupTableInsertV2", "a case is one step, a table needs several"},
      {"LookupTableRemoveV2", "a case is one step, a table needs several"},
      {"LookupTableSize", "a case is one step, a table needs several"},
      {"LookupTableSizeV2", "a case is one step, a table needs several"},
      {"Multinomial", "others draw other numbers"},
      {"MutableHashTable", "a case is one step, a table needs several"},
      {"MutableHashTableOfTensors", "a case is one step, a table needs several"},
      {"MutableHashTableOfTensorsV2", "a case is one step, a table needs several"},
      {"MutableHashTableV2", "a case is one step, a table needs several"},
      {"NoOp", "it computes nothing"},
      {"ParameterizedTruncatedNormal", "others draw other numbers"},
      {"Placeholder", "it has a value only when it is fed"},
      {"RandomGamma", "others draw other numbers"},
      {"RandomPoisson", "others draw other numbers"},
      {"RandomPoissonV2", "others draw other numbers"},
      {"RandomShuffle", "others draw other numbers"},
      {"RandomStandardNormal", "others draw other numbers"},
      {"RandomUniform", "others draw other numbers"},
      {"RandomUniformInt", "others draw other numbers"},
      {"StatelessRandomNormal", "others draw other numbers"},
      {"StatelessRandomUniform", "others draw other numbers"},
      {"StatelessTruncatedNormal", "others draw other numbers"},
      {"TemporaryVariable", "tests/graphs/handles.txt has steps with them"},
      {"ThreadUnsafeUnigramCandidateSampler", "others draw other numbers"},
      {"TopK", "TensorFlow has dropped it; TopKV2 runs the same kernel"},
      {"TruncatedNormal", "others draw other numbers"},
      {"UniformCandidateSampler", "others draw other numbers"},
      {"VarHandleOp", "the cases of what changes variables have some"},
      {"Variable", "VariableV2 with a shape that is not known; tests/graphs/handles.txt"},
      {"VariableV2", "the cases of what changes variables have some"},
  };
  for (const auto* op : library().ops())
    if (op->ask || op->make_responder)
      all.push_back({op->name, "a case is one step, what waits needs several"});
  return all;
}

} // namespace troupe::test
