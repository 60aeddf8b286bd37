// Parses features from serialized tf.Example messages; the keys are vectors.
#include "troupe/ops/parsing/shared/example.hpp"

namespace troupe::ops::parse_example_v2_op {
namespace {

result<shapes> infer_parse_example_v2(const infer_context& at) {
  const auto& serialized = at.input(0);
  if (serialized.has_rank() && serialized.rank() > 1)
    return at.invalid("serialized must be a scalar or a vector, got ", serialized);
  for (int i = 2; i < 5; ++i)
    TROUPE_TRY(at.of_rank(i, 1));
  auto sparse = static_cast<size_t>(at.attr<int64_t>("num_sparse"));
  if (sparse != at.attr<std::vector<dtype>>("sparse_types").size())
    return at.invalid("there must be one of sparse_types for each of num_sparse=", sparse);
  if (!at.attr<std::vector<dtype>>("ragged_value_types").empty() ||
      !at.attr<std::vector<dtype>>("ragged_split_types").empty())
    return at.invalid("ragged features are not read: take them as sparse ones");
  TROUPE_TRY(check_dense(at, 5));
  auto has_known_rank = serialized.has_rank();
  auto batched = has_known_rank && serialized.rank() == 1;
  shapes out;
  for (const auto& dims : {partial_shape{unknown_extent, batched          ? 2
                                                         : has_known_rank ? 1
                                                                          : unknown_extent},
                           partial_shape{unknown_extent},
                           partial_shape{batched          ? 2
                                         : has_known_rank ? 1
                                                          : unknown_extent}})
    out.insert(out.end(), sparse, dims);
  for (const auto& dims : at.attr<shapes>("dense_shapes")) {
    if (!has_known_rank) {
      out.emplace_back();
      continue;
    }
    std::vector<int64_t> extents;
    if (batched)
      extents.push_back(serialized[0]);
    extents.insert(extents.end(), dims.extents().begin(), dims.extents().end());
    TROUPE_ASSIGN(auto output_shape, partial_shape::make(extents));
    out.push_back(output_shape);
  }
  return out;
}

} // namespace

extern constexpr op_def parse_example_v2{
    .name = "ParseExampleV2",
    .doc = "Reads features out of a batch of tf.train.Example messages, or of one.\n\n"
           "Like ParseExample where `serialized` is a vector, and like ParseSingleExample where it "
           "is a scalar; keys are vectors of names. There must be no ragged keys: take these "
           "features as sparse ones.",
    .inputs = {{"serialized", "string"},
               {"names", "string"},
               {"sparse_keys", "string"},
               {"dense_keys", "string"},
               {"ragged_keys", "string"},
               {"dense_defaults", "Tdense"}},
    .outputs = {{"sparse_indices", "i64", "num_sparse"},
                {"sparse_values", "sparse_types"},
                {"sparse_shapes", "i64", "num_sparse"},
                {"dense_values", "Tdense"},
                {"ragged_values", "ragged_value_types"},
                {"ragged_row_splits", "ragged_split_types"}},
    .attrs = {feature_type_list("Tdense"),
              {"num_sparse", at_least{0}},
              feature_type_list("sparse_types"),
              feature_type_list("ragged_value_types"),
              {"ragged_split_types", attr_kind::types, true},
              {"dense_shapes", attr_kind::shapes, true}},
    .infer = infer_parse_example_v2,
    .no_gradient = "bytes have none",
    .example = R"(
# {"n": int64_list [7, 8], "x": float_list [1.5]}
y = ParseExampleV2(
    string("\x0a\x1b\x0a\x0b\x0a\x01n\x12\x06\x1a\x04\x0a\x02\x07\x08\x0a\x0c\x0a\x01x\x12\x07\x12\x05\x0d\x00\x00\xc0\x3f"),
    string{0}[], string["n"], string["x"], string{0}[], f32(0)) num_sparse=1 sparse_types=[i64] dense_shapes=[[]]
fetch y = i64[[0], [1]]
fetch y:1 = i64[7, 8]
fetch y:2 = i64[2]
fetch y:3 = f32(1.5)
)",
};

} // namespace troupe::ops::parse_example_v2_op
