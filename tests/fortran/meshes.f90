! SPDX-License-Identifier: BSD-2-Clause
! A field T(levels, nodes) on a ring of nodes with scattered ids: ghosts behind the owned nodes in the array, filled and
! added in place, with other fields in one message or alone; and second differences along the ring as a sparse matrix, and as a gather and sums of edges; and a ring of linked tiles.
program meshes
  use mpi_f08
  use tenon
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: levels = 3, owned = 4, nodes_here = owned + 2
  integer :: rank, ranks, k
  integer(int64) :: ids(nodes_here)
  real(real64), allocatable, target :: t(:, :)
  type(tenon_index_map) :: nodes
  type(tenon_layout) :: plain, ghosted, dual
  type(tenon_dtensor) :: x, u, du
  type(tenon_linearop) :: fill

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call tenon_initialize()
  ids = [(idOf(owned*rank + k), k=owned - 1, 0, -1), idOf(owned*rank - 1), idOf(owned*(rank + 1))]
  call tenon_index_map_create_from_ids(MPI_COMM_WORLD, int(owned, int64), ids, nodes)
  call tenon_index_map_get_layouts(nodes, [levels, 0], plain, ghosted)
  call tenon_layout_get_dual(ghosted, dual)
  call tenon_dtensor_create(plain, TENON_FLOAT64, x)
  call tenon_dtensor_create(ghosted, TENON_FLOAT64, u)
  call tenon_dtensor_create(dual, TENON_FLOAT64, du)
  call tenon_linearop_create_index_map(nodes, plain, TENON_FLOAT64, fill)
  allocate (t(levels, nodes_here), source=-1.0_real64)
  call tenon_place(x, t(:, 1:owned))
  call tenon_place(u, t(:, 1:owned), array=t)
  call tenon_place(du, t(:, 1:owned), array=t)

  do k = 1, owned
    t(:, k) = field(ids(k))
  end do
  call tenon_linearop_apply(fill, x, u)
  do k = 1, nodes_here
    if (any(abs(t(:, k) - field(ids(k))) > 0)) error stop 'a node has another value'
  end do

  ! Each end of a rank's nodes is a ghost of one neighbour.
  t = 1
  call tenon_linearop_apply_adjoint(fill, du, x)
  if (any(abs(t(:, [1, owned]) - 2) > 0) .or. any(abs(t(:, 2:owned - 1) - 1) > 0)) error stop 'another sum'

  call exchange_fields()
  call exchange_unlike_fields()
  call exchange_integers()
  call read_by_own_numbers()
  call second_differences()
  call go_by_ids()
  call map_rows()
  call join_tiles()

  call tenon_linearop_destroy(fill)
  call tenon_dtensor_destroy(x)
  call tenon_dtensor_destroy(u)
  call tenon_dtensor_destroy(du)
  call tenon_layout_destroy(plain)
  call tenon_layout_destroy(ghosted)
  call tenon_layout_destroy(dual)
  call tenon_index_map_destroy(nodes)
  call tenon_finalize()
  call MPI_Finalize()
contains
  ! T and S, which is -2 T, in one exchange: the messages of one field with the bytes of two. So is the adjoint.
  subroutine exchange_fields()
    real(real64), target :: s(levels, nodes_here)
    type(tenon_dtensor) :: xs, us, dus
    type(tenon_linearop) :: add
    integer(int64) :: of_one(2), of_both(2)
    integer :: event

    call tenon_linearop_create_adjoint(fill, add)
    call tenon_dtensor_create(plain, TENON_FLOAT64, xs)
    call tenon_dtensor_create(ghosted, TENON_FLOAT64, us)
    call tenon_dtensor_create(dual, TENON_FLOAT64, dus)
    call tenon_place(xs, s(:, 1:owned))
    call tenon_place(us, s(:, 1:owned), array=s)
    call tenon_place(dus, s(:, 1:owned), array=s)
    t(:, owned + 1:) = -1
    s(:, owned + 1:) = -1
    do k = 1, owned
      t(:, k) = field(ids(k))
      s(:, k) = -2*field(ids(k))
    end do
    call tenon_linearop_apply_many(fill, [x, xs], [u, us])
    do k = 1, nodes_here
      if (any(abs(t(:, k) - field(ids(k))) > 0)) error stop 'a node has another value among two fields'
      if (any(abs(s(:, k) + 2*field(ids(k))) > 0)) error stop 'a node has another value in the second field'
    end do

    call tenon_log_enable(.true.)
    call tenon_log_event_register('fields', event)
    call tenon_log_event_begin(event)
    call tenon_linearop_apply(fill, x, u)
    call tenon_log_get_work(messages=of_one(1), bytes=of_one(2))
    call tenon_log_event_end(event)
    call tenon_log_event_begin(event)
    call tenon_linearop_apply_many(fill, [x, xs], [u, us])
    call tenon_log_get_work(messages=of_both(1), bytes=of_both(2))
    call tenon_log_event_end(event)
    call tenon_log_enable(.false.)
    if ((of_one(1) > 0) .neqv. (ranks > 1)) error stop 'the log counts no messages'
    if (any(of_both /= of_one*[1, 2])) error stop 'two fields need other messages than one'

    t = 1
    s = 10
    call tenon_linearop_apply_many(add, [du, dus], [x, xs])
    do k = 1, owned
      if (any(abs(t(:, k) - merge(2, 1, k == 1 .or. k == owned)) > 0)) error stop 'another sum among two fields'
    end do
    if (any(abs(s(:, 1:owned) - 10*t(:, 1:owned)) > 0)) error stop 'another sum in the second field'
    call tenon_destroy(add)
    call tenon_destroy(xs)
    call tenon_destroy(us)
    call tenon_destroy(dus)
  end subroutine exchange_fields
  ! Columns T and a surface of default reals in one exchange: the messages of T with the bytes of both.
  subroutine exchange_unlike_fields()
    real, target :: eta(nodes_here)
    type(tenon_layout) :: flat, flat_and_ghosts, contributions
    type(tenon_dtensor) :: own, all_here, sums
    type(tenon_linearop) :: fill_eta, both, add
    integer(int64) :: messages(3), bytes(3)

    call tenon_index_map_get_layouts(nodes, [0], flat, flat_and_ghosts)
    call tenon_layout_get_dual(flat_and_ghosts, contributions)
    call tenon_dtensor_create(flat, TENON_FLOAT32, own)
    call tenon_dtensor_create(flat_and_ghosts, TENON_FLOAT32, all_here)
    call tenon_dtensor_create(contributions, TENON_FLOAT32, sums)
    call tenon_linearop_create_index_map(nodes, flat, TENON_FLOAT32, fill_eta)
    call tenon_linearop_create_block_diagonal([fill, fill_eta], both)
    call tenon_linearop_create_adjoint(both, add)
    call tenon_linearop_get_traffic(fill, messages(1), bytes(1))
    call tenon_linearop_get_traffic(fill_eta, messages(2), bytes(2))
    call tenon_linearop_get_traffic(both, messages(3), bytes(3))
    if (any(messages /= messages(1)) .or. bytes(3) /= sum(bytes(1:2))) error stop 'unlike fields need other messages'
    call tenon_place(own, eta(1:owned))
    call tenon_place(all_here, eta(1:owned), array=eta)
    call tenon_place(sums, eta(1:owned), array=eta)
    t = -1
    eta = -1
    do k = 1, owned
      t(:, k) = field(ids(k))
      eta(k) = real(mod(ids(k), 1000_int64))
    end do
    call tenon_linearop_apply_many(both, [x, own], [u, all_here])
    do k = 1, nodes_here
      if (any(abs(t(:, k) - field(ids(k))) > 0)) error stop 'a node has another column beside a surface'
      if (abs(eta(k) - real(mod(ids(k), 1000_int64))) > 0) error stop 'a node has another surface'
    end do
    t = 1
    eta = 1
    call tenon_linearop_apply_many(add, [du, sums], [x, own])
    do k = 1, owned
      if (any(abs(t(:, k) - merge(2, 1, k == 1 .or. k == owned)) > 0)) error stop 'another sum of columns'
      if (abs(eta(k) - merge(2, 1, k == 1 .or. k == owned)) > 0) error stop 'another sum of the surface'
    end do
    call tenon_destroy(add)
    call tenon_destroy(both)
    call tenon_destroy(fill_eta)
    call tenon_destroy(sums)
    call tenon_destroy(all_here)
    call tenon_destroy(own)
    call tenon_destroy(contributions)
    call tenon_destroy(flat_and_ghosts)
    call tenon_destroy(flat)
  end subroutine exchange_unlike_fields
  ! Bounds count the nodes of all ranks, or this rank's alone; ghosts are behind them, and halo cells before and after.
  ! Default integers, such as kinds of land or the parts of METIS, are placed and exchanged as they are.
  subroutine exchange_integers()
    integer, target :: kinds(nodes_here)
    integer, pointer :: seen(:)
    type(tenon_layout) :: rows, rows_and_ghosts
    type(tenon_dtensor) :: own, all_here
    type(tenon_linearop) :: fill_kinds

    call tenon_index_map_get_layouts(nodes, [1, 0], rows, rows_and_ghosts)
    call tenon_dtensor_create(rows, TENON_INT32, own)
    call tenon_dtensor_create(rows_and_ghosts, TENON_INT32, all_here)
    call tenon_linearop_create_index_map(nodes, rows, TENON_INT32, fill_kinds)
    call tenon_place(own, kinds(1:owned))
    call tenon_place(all_here, kinds(1:owned), array=kinds)
    kinds = -1
    kinds(1:owned) = huge(1) - int(ids(1:owned))
    call tenon_linearop_apply(fill_kinds, own, all_here)
    if (any(kinds /= huge(1) - int(ids))) error stop 'a kind has another value'
    call tenon_get_local_array_read(all_here, seen)
    if (any(seen /= kinds) .or. ubound(seen, 1) /= nodes_here) error stop 'the pointer sees other kinds'
    call tenon_restore_array_read(all_here, seen)
    call tenon_destroy(fill_kinds)
    call tenon_destroy(own)
    call tenon_destroy(all_here)
    call tenon_destroy(rows)
    call tenon_destroy(rows_and_ghosts)
  end subroutine exchange_integers

  subroutine read_by_own_numbers()
    type(tenon_layout) :: blocks, slabs
    type(tenon_dtensor) :: slab
    real(real64), pointer :: all_nodes(:, :), own_nodes(:, :), cells(:, :)
    do k = 1, nodes_here
      t(:, k) = real(k, real64)
    end do
    call tenon_get_array(x, all_nodes)
    if (lbound(all_nodes, 2) /= owned*rank + 1) error stop 'the nodes of all ranks have other numbers'
    call tenon_restore_array(x, all_nodes)
    call tenon_get_local_array(u, own_nodes)
    if (any(lbound(own_nodes) /= 1) .or. any(ubound(own_nodes) /= [levels, nodes_here])) error stop 'other own bounds'
    own_nodes(2, owned) = -7
    call tenon_restore_array(u, own_nodes)
    if (associated(own_nodes) .or. nint(t(2, owned)) /= -7) error stop 'the pointer was to another node'
    call tenon_get_local_array_read(u, own_nodes)
    if (nint(own_nodes(1, nodes_here)) /= nodes_here) error stop 'a ghost has another number'
    call tenon_restore_array_read(u, own_nodes)

    call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 4*rank + 1], [3, 4*rank + 4], blocks)
    call tenon_layout_create_like(blocks, slabs)
    call tenon_layout_set_halo(slabs, 2, 2, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC)
    call tenon_layout_set_up(slabs)
    call tenon_dtensor_create(slabs, TENON_FLOAT64, slab)
    call tenon_get_local_array(slab, cells)
    if (any(lbound(cells) /= [1, -1]) .or. any(ubound(cells) /= [3, 5])) error stop 'halo cells have other numbers'
    call tenon_restore_array(slab, cells)
    call tenon_destroy(slab)
    call tenon_destroy(slabs)
    call tenon_destroy(blocks)
  end subroutine read_by_own_numbers
  ! The ids rise by one distance around the ring, so that the values in their order do too.
  subroutine go_by_ids()
    type(tenon_index_map) :: sorted
    type(tenon_layout) :: domain, by_id
    type(tenon_linearop) :: sort
    type(tenon_dtensor) :: y
    real(real64), pointer :: values(:, :)
    real(real64) :: step
    integer :: n
    call tenon_index_map_create_sorted(nodes, sorted)
    call tenon_index_map_get_layouts(sorted, [levels, 0], domain, by_id)
    call tenon_linearop_create_index_map(sorted, plain, TENON_FLOAT64, sort)
    call tenon_dtensor_create(by_id, TENON_FLOAT64, y)
    do k = 1, owned
      t(:, k) = field(ids(k))
    end do
    call tenon_linearop_apply(sort, x, y)
    call tenon_get_array_read(y, values)
    step = real(idOf(1) - idOf(0), real64)
    do n = lbound(values, 2) + 1, ubound(values, 2)
      if (abs(values(1, n) - values(1, n - 1) - step) > 1e-12_real64*step) error stop 'another order'
    end do
    call tenon_restore_array_read(y, values)
    t(:, 1:owned) = 0
    call tenon_linearop_apply_adjoint(sort, y, x)
    do k = 1, owned
      if (any(abs(t(:, k) - field(ids(k))) > 0)) error stop 'a node did not come back'
    end do
    call tenon_destroy(y)
    call tenon_destroy(sort)
    call tenon_destroy(domain)
    call tenon_destroy(by_id)
    call tenon_destroy(sorted)
  end subroutine go_by_ids
  ! By entries: the second of a rank's rows is twice the third one of the next rank.
  subroutine map_rows()
    type(tenon_index_map) :: map
    type(tenon_linearop) :: op
    type(tenon_dtensor) :: y
    real(real64), target :: rows(levels, owned)
    integer :: next
    next = modulo(rank + 1, ranks)
    call tenon_index_map_create_cells(plain, plain, [0, 1], [2], [owned*next + 3], map, [2.0_real64])
    call tenon_linearop_create_index_map(map, plain, TENON_FLOAT64, op)
    call tenon_dtensor_create(plain, TENON_FLOAT64, y)
    call tenon_place(y, rows)
    rows = -1
    call tenon_linearop_apply(op, x, y)
    if (any(abs(rows(:, 2) - 2*field(idOf(owned*next + owned - 3))) > 0) .or. any(abs(rows(:, [1, 3, 4])) > 0)) &
      error stop 'other rows by entries'
    call tenon_destroy(y)
    call tenon_destroy(op)
    call tenon_destroy(map)
  end subroutine map_rows
  ! A ring that is cut into a tile for each rank, given from the last one on: sums of three neighbours.
  subroutine join_tiles()
    integer, parameter :: each = 3
    real(real64), target :: values(each, 1, 1), found(each, 1, 1)
    type(tenon_links) :: links
    type(tenon_layout) :: tiles
    type(tenon_layer) :: conv
    type(tenon_dtensor) :: parameter, field_of_tiles, sums
    integer :: i, place, at(3)
    place = ranks - rank
    call tenon_links_create_from_tiles(MPI_COMM_WORLD, [ranks], [TENON_BOUNDARY_PERIODIC], [place], links)
    call tenon_links_get_layout(links, [each, 1, 0], tiles)
    call tenon_layer_create_conv(MPI_COMM_WORLD, 1, 1, [3], conv)
    call tenon_layer_set_data_type(conv, TENON_FLOAT64)
    call tenon_set_bool(conv, 'bias', .false.)
    call tenon_layer_set_padding(conv, [1])
    call tenon_layer_set_boundary(conv, [TENON_BOUNDARY_LINKED])
    call tenon_layer_set_links(conv, links)
    call tenon_layer_set_up(conv, tiles)
    call tenon_layer_get_parameter(conv, 1, parameter)
    call tenon_dtensor_fill_constant(parameter, 1.0_real64)
    call tenon_dtensor_create(tiles, TENON_FLOAT64, field_of_tiles)
    call tenon_place(field_of_tiles, values)
    call tenon_layer_create_output(conv, 1, sums)
    call tenon_place(sums, found)
    values(:, 1, 1) = [(real((place - 1)*each + i, real64)**2, i=1, each)]
    call tenon_layer_apply(conv, field_of_tiles, sums)
    do i = 1, each
      at = modulo((place - 1)*each + i + [-1, 0, 1] - 1, each*ranks) + 1
      if (abs(found(i, 1, 1) - sum(real(at, real64)**2)) > 0) error stop 'another sum across tiles'
    end do
    call tenon_destroy(field_of_tiles)
    call tenon_destroy(sums)
    call tenon_destroy(parameter)
    call tenon_destroy(conv)
    call tenon_destroy(tiles)
    call tenon_destroy(links)
  end subroutine join_tiles
  ! Node p of the list is the next but one on the ring of node p - 2; the ends are ghosts.
  subroutine second_differences()
    integer :: target(3*owned), source(3*owned), keys(3*owned), p
    real(real64) :: weights(3*owned), expected(levels)
    real(real64), target :: at_edges(levels, 3*owned), found(levels, owned)
    type(tenon_edges) :: edges
    type(tenon_layout) :: on_edges
    type(tenon_layer) :: matrix, sums
    type(tenon_dtensor) :: y, m

    do p = 1, owned
      target(3*p - 2:3*p) = p
      source(3*p - 2:3*p) = [p, merge(owned + 2, p - 1, p == 1), merge(owned + 1, p + 1, p == owned)]
      weights(3*p - 2:3*p) = [-2, 1, 1]
      keys(3*p - 2:3*p) = 3*modulo(owned*rank + owned - p, owned*ranks) + [1, 2, 3]
    end do
    call tenon_edges_create(nodes, nodes, target, source, edges, keys, weights)
    call tenon_layer_create_type(MPI_COMM_WORLD, 'sparsematrix', matrix)
    call tenon_layer_set_edges(matrix, '', edges)
    call tenon_layer_set_data_type(matrix, TENON_FLOAT64)
    call tenon_layer_set_up(matrix, plain)
    call tenon_layer_create_output(matrix, 1, y)
    call tenon_place(y, found)
    do p = 1, owned
      t(:, p) = squared(owned*rank + owned - p)
    end do
    call tenon_layer_apply(matrix, x, y)
    do p = 1, owned
      expected = squared(owned*rank + owned - p + 1) + squared(owned*rank + owned - p - 1) &
                 - 2*squared(owned*rank + owned - p)
      if (any(abs(found(:, p) - expected) > 0)) error stop 'another second difference'
    end do

    ! The same from rows that lie on the edges.
    call tenon_edges_get_layout(edges, [levels, 0], on_edges)
    call tenon_dtensor_create(on_edges, TENON_FLOAT64, m)
    do p = 1, owned
      at_edges(:, 3*p - 2) = squared(owned*rank + owned - p)
      at_edges(:, 3*p - 1) = squared(owned*rank + owned - p + 1)
      at_edges(:, 3*p) = squared(owned*rank + owned - p - 1)
    end do
    call tenon_place(m, at_edges)
    call tenon_layer_create_type(MPI_COMM_WORLD, 'segmentsum', sums)
    call tenon_layer_set_edges(sums, '', edges)
    call tenon_layer_set_data_type(sums, TENON_FLOAT64)
    call tenon_layer_set_up(sums, on_edges)
    found = -99
    call tenon_layer_apply(sums, m, y)
    do p = 1, owned
      expected = squared(owned*rank + owned - p + 1) + squared(owned*rank + owned - p - 1) &
                 - 2*squared(owned*rank + owned - p)
      if (any(abs(found(:, p) - expected) > 0)) error stop 'another sum of edges'
    end do

    call tenon_destroy(m)
    call tenon_destroy(y)
    call tenon_destroy(matrix)
    call tenon_destroy(sums)
    call tenon_destroy(on_edges)
    call tenon_destroy(edges)
  end subroutine second_differences
  function squared(node)
    integer, intent(in) :: node
    real(real64) :: squared(levels)
    integer :: level
    squared = [(real(modulo(node, owned*ranks)**2*level, real64), level=1, levels)]
  end function squared
  ! Nodes are numbered around the ring.
  integer(int64) function idOf(node)
    integer, intent(in) :: node
    idOf = 7919_int64**4*(modulo(node, owned*ranks) - 3)
  end function idOf
  function field(id)
    integer(int64), intent(in) :: id
    real(real64) :: field(levels)
    integer :: level
    field = [(real(id, real64)*level, level=1, levels)]
  end function field
end program meshes
