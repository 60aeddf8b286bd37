// ParseSingleExample: one piece of training data.
#include "troupe/ops/parsing/shared/example.hpp"

namespace troupe::ops::parse_single_example_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  auto sparse = static_cast<size_t>(at.attr<int64_t>("num_sparse"));
  if (sparse != at.attr<std::vector<std::string>>("sparse_keys").size() ||
      sparse != at.attr<std::vector<dtype>>("sparse_types").size())
    return at.invalid(
        "there must be one of sparse_keys and of sparse_types for each of num_sparse=", sparse);
  if (at.attr<std::vector<dtype>>("Tdense").size() !=
      at.attr<std::vector<std::string>>("dense_keys").size())
    return at.invalid("there must be one of dense_defaults for each of dense_keys");
  TROUPE_TRY(check_dense(at, 1));
  shapes out;
  for (const auto& dims :
       {partial_shape{unknown_extent, 1}, partial_shape{unknown_extent}, partial_shape{1}})
    out.insert(out.end(), sparse, dims);
  const auto& dense = at.attr<shapes>("dense_shapes");
  out.insert(out.end(), dense.begin(), dense.end());
  return out;
}

} // namespace

extern constexpr op_def parse_single_example{
    .name = "ParseSingleExample",
    .doc =
        "Reads features out of one tf.train.Example message.\n\n"
        "A sparse feature has any number of values, and becomes a sparse vector. A dense one has "
        "the values of its shape; where it is missing, its default stands, and an empty default "
        "says that it must not. Where a dense shape leaves its first extent open, there are as "
        "many values as there are.",
    .inputs = {{"serialized", "string"}, {"dense_defaults", "Tdense"}},
    .outputs = {{"sparse_indices", "i64", "num_sparse"},
                {"sparse_values", "sparse_types"},
                {"sparse_shapes", "i64", "num_sparse"},
                {"dense_values", "Tdense"}},
    .attrs = {{"num_sparse", at_least{0}},
              {"sparse_keys", attr_kind::texts, true},
              {"dense_keys", attr_kind::texts, true},
              feature_type_list("sparse_types"),
              feature_type_list("Tdense"),
              {"dense_shapes", attr_kind::shapes, true}},
    .infer = infer,
    .no_gradient = "bytes have none",
    .example = R"(
# {"n": int64_list [7, 8], "x": float_list [1.5]}
y = ParseSingleExample(
    string("\x0a\x1b\x0a\x0b\x0a\x01n\x12\x06\x1a\x04\x0a\x02\x07\x08\x0a\x0c\x0a\x01x\x12\x07\x12\x05\x0d\x00\x00\xc0\x3f"),
    f32(0)) num_sparse=1 sparse_keys=["n"] dense_keys=["x"] sparse_types=[i64] dense_shapes=[[]]
fetch y = i64[[0], [1]]
fetch y:1 = i64[7, 8]
fetch y:2 = i64[2]
fetch y:3 = f32(1.5)
)",
};

} // namespace troupe::ops::parse_single_example_op
