// Partitioned variables, whose slices are on different devices, and lookups of rows in them.
#pragma once
#include "troupe/api/layers/initializers.hpp"
#include "troupe/runtime/export.hpp"

#include <optional>

namespace troupe {

/// The slice of a partitioned variable that a variable holds. It is recorded in the variable's
/// attributes, so that savers can save the whole variable.
struct variable_slice {
  std::string variable_name; ///< the name of the whole variable
  shape full;                ///< the shape of the whole variable
  shape first;               ///< the start of the slice in each axis
  shape dims;                ///< the shape of the slice
};

/// Returns nullopt for a variable that is not a slice.
TROUPE_API std::optional<variable_slice> slice_of(const variable_handle& variable);

struct partition_options {
  int axis = 0;
  int64_t slices = 1;              ///< as equal as possible; the first ones are larger
  std::vector<int64_t> sizes = {}; ///< or these extents along the axis
  /// Slice i is placed on device i mod their number ("/job:ps/task:0"). Empty: the session chooses
  /// the devices.
  std::vector<std::string> devices = {};
  bool use_resource = false; ///< as graph_builder::resource_variable()
};

/// A variable in n slices along one axis, called "<name>/part_0" and so on.
class TROUPE_API partitioned_variable {
public:
  using location = std::source_location;

  /// Initializes each slice with its part of the initial value, whose shape must be known.
  partitioned_variable(graph_builder& in, operand initial, std::string_view name,
                       partition_options options, location where = location::current());
  /// Initializes each slice separately: the whole value is never materialized.
  partitioned_variable(graph_builder& in, const shape& dims, const initializer& values,
                       std::string_view name, partition_options options, dtype type = dtype::f32,
                       location where = location::current());

  const std::vector<variable_handle>& slices() const noexcept { return slices_; }
  const shape& dims() const noexcept { return dims_; }
  int axis() const noexcept { return axis_; }
  /// Concatenates all slices: the whole value.
  edge value(location where = location::current()) const;
  /// Returns the variables, for gradients and optimizers.
  std::vector<edge> refs() const { return {slices_.begin(), slices_.end()}; }

private:
  shape dims_;
  int axis_;
  std::vector<variable_handle> slices_;
};

/// The distribution of the rows of a table over p parts. mod: row i is in part i mod p, at index i
/// / p. div: each part has consecutive rows.
enum class partition_strategy : uint8_t { mod, div };

/// Returns the rows for integers [...]: [..., extents of a row]. Each part gathers its own rows on
/// its device, and gets a sparse gradient. A number that is not a row fails the step. `div` needs
/// parts of known extents.
TROUPE_API edge embedding_lookup(const std::vector<variable_handle>& parts, operand numbers,
                                 partition_strategy strategy = partition_strategy::mod,
                                 std::source_location where = std::source_location::current());

} // namespace troupe
