#include "troupe/serialization/tensor_bundle/bundle_files.hpp"
#include "troupe/serialization/tensor_bundle/slice_extents.hpp"
#include "troupe/serialization/tensor_bundle/sorted_table.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"

#include <algorithm>
#include <filesystem>

namespace troupe {
namespace {

using namespace tensor_bundle;

bool is_same_tensor(const BundleEntryProto& one, const BundleEntryProto& other) {
  return one.dtype() == other.dtype() &&
         one.shape().SerializeAsString() == other.shape().SerializeAsString();
}

class merger {
public:
  explicit merger(file_system& files) : files_(files) {}

  status add(const std::string& prefix) {
    // Opening it checks all that its index says.
    TROUPE_ASSIGN(auto checked, tensor_bundle_reader::open(files_, prefix));
    auto path = bundle_index_path(prefix);
    TROUPE_ASSIGN(auto content, read_whole(files_, path));
    auto rows = read_sorted_table(content);
    if (!rows)
      return rows.status().within(path);
    BundleHeaderProto header;
    if (rows->empty() || !header.ParseFromString(rows->front().value))
      return failure(error_kind::data_loss, path, ": has no header");
    const auto first = static_cast<int>(data_.size());
    for (int i = 0; i < header.num_shards(); ++i)
      data_.push_back(bundle_data_path(prefix, i, header.num_shards()));
    for (const auto& row : *rows) {
      if (row.key.empty())
        continue;
      BundleEntryProto entry;
      if (!entry.ParseFromString(row.value))
        return failure(error_kind::data_loss, path, ": the entry of a tensor is damaged");
      entry.set_shard_id(entry.shard_id() + first);
      TROUPE_TRY(add_row(row.key, entry).within(path));
    }
    return {};
  }

  // The index of it.
  result<std::string> write(const std::string& destination) {
    for (const auto& [key, entry] : rows_)
      if (key.front() != '\0' && !entry.slices().empty())
        TROUPE_TRY(check_slices(entry).within(concat(destination, ": tensor '", key, "'")));
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
    auto [found, fresh] = rows_.try_emplace(key, entry);
    if (fresh)
      return {};
    auto& known = found->second;
    if (key.front() == '\0')
      return invalid("has a slice of a tensor that is in another checkpoint, too");
    if (known.slices().empty() || entry.slices().empty())
      return invalid("tensor '", key, "' is in another checkpoint, too");
    if (!is_same_tensor(known, entry))
      return invalid("tensor '", key, "' has another type or shape in another checkpoint");
    known.mutable_slices()->MergeFrom(entry.slices());
    return {};
  }

  static status check_slices(const BundleEntryProto& of) {
    std::vector<int64_t> extents;
    for (const auto& each : of.shape().dim())
      extents.push_back(each.size());
    TROUPE_ASSIGN(auto whole, shape::make(extents));
    std::vector<tensor_slice> slices;
    for (const auto& each : of.slices()) {
      TROUPE_ASSIGN(auto slice, slice_within(whole, read_extents(each)));
      slices.push_back(std::move(slice));
    }
    return check_disjoint(slices);
  }

  file_system& files_;
  std::vector<std::string> data_; // in the order of their new numbers
  std::map<std::string, BundleEntryProto> rows_;
};

// Of paths that mean the same file one, as far as their names say.
std::string plain(const std::string& path) {
  std::error_code problem;
  auto whole = std::filesystem::absolute(path, problem);
  return (problem ? std::filesystem::path{path} : whole).lexically_normal().string();
}

} // namespace

status merge_tensor_bundles(file_system& files, std::span<const std::string> prefixes,
                            const std::string& destination, bool allow_missing) {
  merger all{files};
  std::vector<std::string> found;
  for (const auto& prefix : prefixes) {
    if (allow_missing) {
      auto known = files.inspect(bundle_index_path(prefix));
      if (!known && known.status().kind() == error_kind::not_found)
        continue;
    }
    if (plain(prefix) == plain(destination))
      return invalid(prefix, ": a checkpoint cannot be merged into itself");
    if (std::ranges::find(found, plain(prefix), plain) != found.end())
      return invalid(prefix, ": is to be merged twice");
    TROUPE_TRY(all.add(prefix));
    found.push_back(prefix);
  }
  if (found.empty())
    return failure(error_kind::not_found, destination, ": none of the ", prefixes.size(),
                   " checkpoints that it is made of is there");
  TROUPE_ASSIGN(auto index, all.write(destination));
  for (const auto& prefix : found)
    TROUPE_TRY(files.remove(bundle_index_path(prefix)));
  // Links may give one checkpoint two names.
  if (auto left = files.inspect(bundle_index_path(destination)); !left)
    return replace_file(files, bundle_index_path(destination), index);
  return {};
}

} // namespace troupe
