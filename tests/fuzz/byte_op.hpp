// Fuzzing of kernels that decode bytes: a graph around an op, fed with one string.
#pragma once
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/evaluate.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/serialization/text/text_graph.hpp"

namespace troupe::fuzz {

class byte_op {
public:
  /// A text graph with a Placeholder `bytes` for one string and a node `y`.
  explicit byte_op(std::string_view text)
      : on_(make_cpu_device({.intra_op_threads = 1, .memory_limit = size_t{64} << 20})),
        evaluator_(in_, *on_) {
    require(parse_text_graph(text, "fuzz", in_).ok());
  }

  /// All outputs of y, or nothing if it refuses the bytes; an internal error is a failure.
  std::vector<tensor> operator()(const uint8_t* data, size_t size) {
    auto* y = in_.find("y");
    std::vector<edge> outputs;
    for (int i = 0; i < y->outputs(); ++i)
      outputs.push_back(y->output(i));
    auto bytes = tensor::scalar(std::string{reinterpret_cast<const char*>(data), size});
    auto outcome = evaluator_.run({{in_.find("bytes")->output(0), bytes}}, outputs);
    require(outcome.ok() || outcome.status().kind() != error_kind::internal);
    return outcome ? *std::move(outcome) : std::vector<tensor>{};
  }

private:
  graph in_{all_ops()};
  std::unique_ptr<device> on_;
  test::evaluator evaluator_;
};

} // namespace troupe::fuzz
