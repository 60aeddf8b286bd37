// Embedding tables: one vector for each row, partitioned over the tasks that hold them.
#pragma once
#include "troupe/api/layers/initializers.hpp"
#include "troupe/runtime/export.hpp"

namespace troupe {

struct embedding_options {
  /// One part of the table on each of these devices ("/job:ps/task:0"). Empty: one part, on a
  /// device that the session chooses.
  std::vector<std::string> devices = {};
  initializer values = initializers::uniform(-0.05, 0.05);
  std::string name = "embedding";
};

/// A table [rows, width]; row i is in part i mod parts (OSDI paper, 4.2). A lookup sends each row
/// number to the part that has the row, gathers there, and stitches the rows together. No task
/// needs the whole table, and gradients are sent only for rows that were looked up.
class TROUPE_API embedding_table {
public:
  using location = std::source_location;

  embedding_table(graph_builder& in, int64_t rows, int64_t width, embedding_options options = {},
                  dtype type = dtype::f32, location where = location::current());

  /// Returns the rows for integers [...]: [..., width]. A number that is not in [0, rows) fails the
  /// step.
  edge operator()(operand row_numbers, location where = location::current()) const;

  const std::vector<variable_handle>& parts() const noexcept { return parts_; }
  int64_t rows() const noexcept { return rows_; }
  int64_t width() const noexcept { return width_; }

private:
  int64_t rows_, width_;
  std::vector<variable_handle> parts_;
};

} // namespace troupe
