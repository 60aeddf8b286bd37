#include "troupe/serialization/tensor_bundle/bundle_files.hpp"
#include "troupe/serialization/tensor_bundle/slice_extents.hpp"
#include "troupe/serialization/tensor_bundle/sorted_table.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"

#include <algorithm>
#include <filesystem>

namespace troupe {
namespace {

using namespace tensor_bundle;

bool is_same_tensor(const BundleEntryProto& left, const BundleEntryProto& right) {
  return left.dtype() == right.dtype() &&
         left.shape().SerializeAsString() == right.shape().SerializeAsString();
}

class merger {
public:
  explicit merger(file_system& files) : files_(files) {}

  status add(const std::string& prefix) {
    // open() checks the whole index.
    TROUPE_ASSIGN(auto checked, tensor_bundle_reader::open(files_, prefix));
    auto path = bundle_index_path(prefix);
    TROUPE_ASSIGN(auto content, read_whole(files_, path));
    auto rows = read_sorted_table(content);
    if (!rows)
      return rows.status().with_context(path);
    BundleHeaderProto header;
    if (rows->empty() || !header.ParseFromString(rows->front().value))
      return failure(error_kind::data_loss, path, ": has no header");
    const auto first_shard = static_cast<int>(data_.size());
    for (int i = 0; i < header.num_shards(); ++i)
      data_.push_back(bundle_data_path(prefix, i, header.num_shards()));
    for (const auto& row : *rows) {
      if (row.key.empty())
        continue;
      BundleEntryProto entry;
      if (!entry.ParseFromString(row.value))
        return failure(error_kind::data_loss, path, ": the entry of a tensor is damaged");
      entry.set_shard_id(entry.shard_id() + first_shard);
      TROUPE_TRY(add_row(row.key, entry).with_context(path));
    }
    return {};
  }

  // Moves the data files, and writes and returns the merged index.
  result<std::string> write(const std::string& destination) {
    for (const auto& [key, entry] : rows_)
      if (key.front() != '\0' && !entry.slices().empty())
        TROUPE_TRY(check_slices(entry).with_context(concat(destination, ": tensor '", key, "'")));
    TROUPE_TRY(make_folder_durably(files_, folder_of(destination)));
    const auto count = static_cast<int>(data_.size());
    for (int i = 0; i < count; ++i)
      TROUPE_TRY(
          files_.rename(data_[static_cast<size_t>(i)], bundle_data_path(destination, i, count)));
    TROUPE_TRY(files_.sync_folder(folder_of(destination)));
    BundleHeaderProto header;
    header.set_num_shards(count);
    header.mutable_version()->set_producer(1);
    std::vector<table_row> rows{{"", header.SerializeAsString()}};
    for (const auto& [key, entry] : rows_)
      rows.push_back({key, entry.SerializeAsString()});
    auto index = write_sorted_table(rows);
    TROUPE_TRY(replace_file(files_, bundle_index_path(destination), index));
    return index;
  }

private:
  status add_row(const std::string& key, const BundleEntryProto& entry) {
    auto [position, is_new] = rows_.try_emplace(key, entry);
    if (is_new)
      return {};
    auto& known = position->second;
    if (key.front() == '\0')
      return invalid("has a slice of a tensor that is in another checkpoint, too");
    if (known.slices().empty() || entry.slices().empty())
      return invalid("tensor '", key, "' is in another checkpoint, too");
    if (!is_same_tensor(known, entry))
      return invalid("tensor '", key, "' has another type or shape in another checkpoint");
    known.mutable_slices()->MergeFrom(entry.slices());
    return {};
  }

  static status check_slices(const BundleEntryProto& entry) {
    std::vector<int64_t> extents;
    for (const auto& axis : entry.shape().dim())
      extents.push_back(axis.size());
    TROUPE_ASSIGN(auto tensor_shape, shape::make(extents));
    std::vector<tensor_slice> slices;
    for (const auto& stored_slice : entry.slices()) {
      TROUPE_ASSIGN(auto slice, slice_within(tensor_shape, read_extents(stored_slice)));
      slices.push_back(std::move(slice));
    }
    return check_disjoint(slices);
  }

  file_system& files_;
  std::vector<std::string> data_; // paths, in the order of their new shard numbers
  std::map<std::string, BundleEntryProto> rows_;
};

// Normalizes a path, so that paths of one file compare equal. Links are not followed.
std::string normalized(const std::string& path) {
  std::error_code problem;
  auto absolute = std::filesystem::absolute(path, problem);
  return (problem ? std::filesystem::path{path} : absolute).lexically_normal().string();
}

} // namespace

status merge_tensor_bundles(file_system& files, std::span<const std::string> prefixes,
                            const std::string& destination, bool allow_missing) {
  merger merged{files};
  std::vector<std::string> sources;
  for (const auto& prefix : prefixes) {
    if (allow_missing) {
      auto index_file = files.inspect(bundle_index_path(prefix));
      if (!index_file && index_file.status().kind() == error_kind::not_found)
        continue;
    }
    if (normalized(prefix) == normalized(destination))
      return invalid(prefix, ": a checkpoint cannot be merged into itself");
    if (std::ranges::find(sources, normalized(prefix), normalized) != sources.end())
      return invalid(prefix, ": is given twice");
    TROUPE_TRY(merged.add(prefix));
    sources.push_back(prefix);
  }
  if (sources.empty())
    return failure(error_kind::not_found, destination, ": none of the ", prefixes.size(),
                   " checkpoints to merge exists");
  TROUPE_ASSIGN(auto index, merged.write(destination));
  for (const auto& prefix : sources)
    TROUPE_TRY(files.remove(bundle_index_path(prefix)));
  // Links may give one checkpoint two names: then the loop has removed the new index.
  if (auto written = files.inspect(bundle_index_path(destination)); !written)
    return replace_file(files, bundle_index_path(destination), index);
  return {};
}

} // namespace troupe
