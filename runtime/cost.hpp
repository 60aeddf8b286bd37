// What running a node costs: estimated from shapes, until it has been measured.
#pragma once
#include "troupe/runtime/graph.hpp"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace troupe {

/// Arithmetic and memory traffic of one run, as far as the shapes are known: unknown extents count
/// as 1, so that nobody acts on a guess that is too high.
struct workload {
  double flops = 0;
  double bytes = 0; ///< read and written
};

workload workload_of(const node& of);

/// The mean of measured runs of one kind of node.
struct measured_cost {
  std::string node; ///< see cost_model::key
  double nanoseconds = 0;
  uint64_t runs = 0;
};

/// What nodes cost on one thread of a CPU. Any thread may use it.
class cost_model {
public:
  /// A measured mean where there is one, else an estimate from the workload.
  double nanoseconds(const node& of) const;

  /// Takes in that a node took that long.
  void record(const node& of, double nanoseconds, uint64_t runs = 1);

  /// What is known from measuring, ordered by name; and the way back. Recorded means are weighed by
  /// their runs.
  std::vector<measured_cost> measured() const;
  void add(const measured_cost& known);
  bool empty() const;

  /// Nodes with the same name, op and shapes cost the same, whatever their graph:
  /// "layer1/product MatMul f32[64,10]".
  static std::string key(const node& of);

private:
  struct mean {
    double nanoseconds = 0;
    uint64_t runs = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string, mean, std::less<>> known_;
};

} // namespace troupe
