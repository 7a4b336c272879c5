! SPDX-License-Identifier: BSD-2-Clause
! A field T(levels, nodes) on a ring of nodes with scattered ids: ghosts behind the owned nodes in the array, filled and
! added in place.
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
