#include "troupe/tests/ops/few_goldens.hpp"

namespace troupe::test {

std::vector<exception> few_goldens() {
  return {
      {"Const", "every case has some"},
      {"FIFOQueue", "a case is one step, a queue needs several"},
      {"FixedUnigramCandidateSampler", "others draw other numbers"},
      {"LearnedUnigramCandidateSampler", "others draw other numbers"},
      {"LogUniformCandidateSampler", "others draw other numbers"},
      {"Multinomial", "others draw other numbers"},
      {"NoOp", "it computes nothing"},
      {"ParameterizedTruncatedNormal", "others draw other numbers"},
      {"Placeholder", "it has a value only when it is fed"},
      {"QueueClose", "a case is one step, a queue needs several"},
      {"QueueDequeue", "a case is one step, a queue needs several"},
      {"QueueDequeueMany", "a case is one step, a queue needs several"},
      {"QueueEnqueue", "a case is one step, a queue needs several"},
      {"QueueEnqueueMany", "a case is one step, a queue needs several"},
      {"QueueSize", "a case is one step, a queue needs several"},
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
      {"ThreadUnsafeUnigramCandidateSampler", "others draw other numbers"},
      {"TopK", "TensorFlow has dropped it; TopKV2 runs the same kernel"},
      {"TruncatedNormal", "others draw other numbers"},
      {"UniformCandidateSampler", "others draw other numbers"},
      {"VariableV2", "the cases of what changes variables have some"},
  };
}

} // namespace troupe::test
