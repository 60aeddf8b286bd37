troupe_add_ops(
  queue/fifo_queue
  queue/queue_close
  queue/queue_dequeue
  queue/queue_dequeue_many
  queue/queue_enqueue
  queue/queue_enqueue_many
  queue/queue_size)
