#include "troupe/tests/ops/few_goldens.hpp"

namespace troupe::test {

std::vector<exception> few_goldens() {
  return {
      {"Const", "every case has some"},
      {"FIFOQueue", "a case is one step, a queue needs several"},
      {"InTopK", "no cases yet"},
      {"L2Loss", "no cases yet"},
      {"NoOp", "it computes nothing"},
      {"Placeholder", "it has a value only when it is fed"},
      {"QueueClose", "a case is one step, a queue needs several"},
      {"QueueDequeue", "a case is one step, a queue needs several"},
      {"QueueDequeueMany", "a case is one step, a queue needs several"},
      {"QueueEnqueue", "a case is one step, a queue needs several"},
      {"QueueEnqueueMany", "a case is one step, a queue needs several"},
      {"QueueSize", "a case is one step, a queue needs several"},
      {"RandomStandardNormal", "others draw other numbers"},
      {"RandomUniform", "others draw other numbers"},
      {"RandomUniformInt", "others draw other numbers"},
      {"SoftmaxCrossEntropyWithLogits", "no cases yet"},
      {"SparseSoftmaxCrossEntropyWithLogits", "no cases yet"},
      {"TopK", "TensorFlow has dropped it; TopKV2 runs the same kernel"},
      {"TruncatedNormal", "others draw other numbers"},
      {"VariableV2", "the cases of what changes variables have some"},
  };
}

} // namespace troupe::test
