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

/// The sequences of one row of a batch, as a tree: each is another one and a label.
class ctc_beam {
public:
  struct path {
    std::vector<int64_t> labels;
    double log_probability;
  };

  /// Of these classes the last one is the blank.
  ctc_beam(int64_t classes, int64_t width);

  /// Goes on by one step, given the logarithms of the classes' probabilities.
  void step(std::span<const double> logs);

  /// How many sequences there are to choose from, at most `width`.
  int64_t size() const { return static_cast<int64_t>(beam_.size()); }

  /// The best ones, best first.
  std::vector<path> best(int64_t count, bool merge_repeated) const;

private:
  static constexpr double zero = -std::numeric_limits<double>::infinity(); // the log of 0

  // Logarithms of probabilities: that a path to the sequence ends with a blank, or its last label.
  struct odds {
    double blank = zero, label = zero, total = zero;
  };
  struct sequence {
    int32_t parent = -1, label = -1;
    odds now = {}, before = {};
    bool kept = false; // in the beam
  };

  static double add(double a, double b);
  bool better(int32_t a, int32_t b) const;
  void keep(int32_t which);
  void extend(int32_t by, std::span<const double> logs);
  std::vector<int32_t> sorted() const;
  sequence& at(int32_t which) { return all_[static_cast<size_t>(which)]; }
  const sequence& at(int32_t which) const { return all_[static_cast<size_t>(which)]; }

  int64_t classes_, width_;
  std::vector<sequence> all_;
  std::unordered_map<int64_t, int32_t> children_; // by parent and label
  std::vector<int32_t> beam_;                     // a heap, with the least likely one on top
};

} // namespace troupe::ops
