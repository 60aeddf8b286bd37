troupe_add_ops(
  collective/collective_bcast_recv
  collective/collective_bcast_send
  collective/collective_gather
  collective/collective_reduce
  collective/collective_reduce_scatter)
