// The beam search of CTCBeamSearchDecoder: Graves, "Sequence Transduction with Recurrent Neural
// Networks", 2012, and Hwang and Sung, "Character-level incremental speech recognition with
// recurrent neural networks", 2016.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

namespace troupe::ops {

/// The sequences of one row of a batch, as a tree: each sequence extends its parent by a label.
class ctc_beam {
public:
  struct path {
    std::vector<int64_t> labels;
    double log_probability;
  };

  /// The last of the classes is the blank.
  ctc_beam(int64_t classes, int64_t width);

  /// Advances by one step, given the logarithms of the classes' probabilities.
  void step(std::span<const double> logs);

  /// The number of sequences to choose from, at most `width`.
  int64_t size() const { return static_cast<int64_t>(beam_.size()); }

  /// The best sequences, best first.
  std::vector<path> best(int64_t count, bool merge_repeated) const;

private:
  static constexpr double zero = -std::numeric_limits<double>::infinity(); // the log of 0

  // Logarithms of the probability that a path to the sequence ends with a blank, or with its last
  // label.
  struct odds {
    double blank = zero, label = zero, total = zero;
  };
  struct sequence {
    int32_t parent = -1, label = -1;
    odds now = {}, before = {};
    bool kept = false; // whether it is in the beam
  };

  static double add(double a, double b);
  bool better(int32_t a, int32_t b) const;
  void keep(int32_t sequence_index);
  void extend(int32_t prefix, std::span<const double> logs);
  std::vector<int32_t> sorted() const;
  sequence& at(int32_t sequence_index) { return sequences_[static_cast<size_t>(sequence_index)]; }
  const sequence& at(int32_t sequence_index) const {
    return sequences_[static_cast<size_t>(sequence_index)];
  }

  int64_t classes_, width_;
  std::vector<sequence> sequences_;
  std::unordered_map<int64_t, int32_t> children_; // by parent and label
  std::vector<int32_t> beam_;                     // a heap, with the least likely one on top
};

} // namespace troupe::ops
