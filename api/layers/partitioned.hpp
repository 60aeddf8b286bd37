// Variables in several slices, each with a place of its own, and lookups of rows in them.
#pragma once
#include "troupe/api/layers/initializers.hpp"
#include "troupe/runtime/export.hpp"

#include <optional>

namespace troupe {

/// What a variable is a slice of, and which one. Stands in the variable's attributes, so that what
/// saves variables can save the whole.
struct variable_slice {
  std::string of; ///< the name of the whole
  shape full;     ///< that of the whole
  shape first;    ///< where the slice begins in each axis
  shape dims;     ///< of the slice
};

/// Nothing for a variable that is a whole.
TROUPE_API std::optional<variable_slice> slice_of(const variable_handle& variable);

struct partition_options {
  int axis = 0;
  int64_t slices = 1;              ///< as equal as can be; the first are larger
  std::vector<int64_t> sizes = {}; ///< or these extents along the axis
  /// Slice i goes to device i mod their number ("/job:ps/task:0"); none: wherever the session puts
  /// it.
  std::vector<std::string> devices = {};
  bool by_handle = false; ///< as graph_builder::resource_variable()
};

/// A variable of n slices along one axis, called "<name>/part_0" and so on.
class TROUPE_API partitioned_variable {
public:
  using location = std::source_location;

  /// Each slice begins with its part of the initial value, whose shape must be known.
  partitioned_variable(graph_builder& in, operand initial, std::string_view name,
                       partition_options options, location where = location::current());
  /// Each slice is initialized by itself: nobody ever needs the whole.
  partitioned_variable(graph_builder& in, const shape& dims, const initializer& values,
                       std::string_view name, partition_options options, dtype type = dtype::f32,
                       location where = location::current());

  const std::vector<variable_handle>& slices() const noexcept { return slices_; }
  const shape& dims() const noexcept { return dims_; }
  int axis() const noexcept { return axis_; }
  /// All slices, one behind the other: the whole value.
  edge value(location where = location::current()) const;
  /// The variables, for gradients and optimizers.
  std::vector<edge> refs() const { return {slices_.begin(), slices_.end()}; }

private:
  shape dims_;
  int axis_;
  std::vector<variable_handle> slices_;
};

/// Which part has row i of a table in p parts: number i mod p, at place i / p; or the one of whose
/// rows, counted on through all parts, it is one.
enum class partition_strategy : uint8_t { mod, div };

/// Rows for whole numbers [...]: [..., of a row]. Each part is asked for its rows only, where it
/// is, and its gradient is one of rows. A number that is no row's fails the step. `div` needs parts
/// of known extents.
TROUPE_API edge embedding_lookup(const std::vector<variable_handle>& parts, operand numbers,
                                 partition_strategy strategy = partition_strategy::mod,
                                 std::source_location where = std::source_location::current());

} // namespace troupe
