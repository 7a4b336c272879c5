! SPDX-License-Identifier: BSD-2-Clause
! A triangulated sphere, of which each process has some triangles, the cells.
!
! An icosahedron, each of whose triangles is divided into four again and again; corners are moved to the sphere of
! radius 1. Cell c of one level has the cells 4c - 3 to 4c of the next. For simplicity each process makes the whole
! mesh and then keeps its part; a code reads its part from a file.
!
! What a finite-volume code has in this form: the ids of its own cells, then those of the neighbours that other processes
! own, its ghosts; and for each side of an own cell, where the cell behind it lies in this list. That is all that
! Tenon needs. A field is an array q(fields, count), own cells first.
module sphere_mesh
  use mpi_f08
  use tenon
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private
  public :: mesh_create, mesh_destroy, mesh_partition, mesh_cells, mesh_exchange, mesh_exchange_adjoint, mesh_dot, &
            mesh_mass, create_field, create_fields, cross
  public :: real64
  integer, parameter, public :: fields = 4, sides = 3
  integer, parameter :: vertices = 12, faces = 20

  type, public :: mesh_t
    type(MPI_Comm) :: comm
    integer :: level, cells ! of all processes
    integer :: owned, count ! of this process: own cells, and with ghosts
    integer, allocatable :: ids(:)               ! (count)
    integer, allocatable :: neighbours(:, :)     ! (sides, owned) positions in the list
    real(real64), allocatable :: corners(:, :, :) ! (3, sides, owned)
    real(real64), allocatable :: normals(:, :, :) ! (3, sides, owned) outward normals of the sides, as long as these
    real(real64), allocatable :: up(:, :)        ! (3, owned) normals of the cells
    real(real64), allocatable :: areas(:)        ! (owned)
    type(tenon_layout) :: plain                  ! (fields, cells)
    type(tenon_index_map) :: map
    type(tenon_edges) :: edges ! from each cell behind a side to the cell before it, side by side
    type(tenon_linearop) :: fill
    type(tenon_dtensor) :: inner, ghosted, contributions
  end type mesh_t

  ! A triangle of the whole mesh, its corners counterclockwise from outside. Side k is opposite corner k.
  type :: triangle_t
    real(real64) :: corner(3, sides)
    integer :: neighbour(sides)
  end type triangle_t
contains
  integer function mesh_cells(level)
    integer, intent(in) :: level
    mesh_cells = faces*4**level
  end function mesh_cells

  function cross(a, b)
    real(real64), intent(in) :: a(3), b(3)
    real(real64) :: cross(3)
    cross = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
  end function cross

  ! The middle of two corners, the same bits from both sides.
  function middle(a, b)
    real(real64), intent(in) :: a(3), b(3)
    real(real64) :: middle(3)
    middle = a + b
    middle = middle/norm2(middle)
  end function middle

  ! The next of three corners.
  integer function after(k)
    integer, intent(in) :: k
    after = mod(k, sides) + 1
  end function after

  ! The corner of a triangle at this place, or 0.
  integer function corner_at(t, place)
    type(triangle_t), intent(in) :: t
    real(real64), intent(in) :: place(3)
    integer :: k
    corner_at = 0
    do k = 1, sides
      if (.not. any(abs(t%corner(:, k) - place) > 0)) corner_at = k
    end do
  end function corner_at

  ! Three of the twelve vertices are a face if each two are as close as vertices are.
  subroutine make_icosahedron(all)
    type(triangle_t), intent(out) :: all(faces)
    real(real64) :: vertex(3, vertices)
    integer :: count, v, w, x, f, g, k
    vertex = 0
    v = 0
    do k = 1, 3
      do f = -1, 1, 2
        do g = -1, 1, 2
          v = v + 1
          vertex(k, v) = g
          vertex(after(k), v) = f*(1 + sqrt(5.0_real64))/2
          vertex(:, v) = vertex(:, v)/norm2(vertex(:, v))
        end do
      end do
    end do
    count = 0
    do v = 1, vertices
      do w = v + 1, vertices
        do x = w + 1, vertices
          if (min(dot_product(vertex(:, v), vertex(:, w)), dot_product(vertex(:, w), vertex(:, x)), &
                  dot_product(vertex(:, x), vertex(:, v))) < 0.4_real64) cycle
          count = count + 1
          k = merge(2, 3, dot_product(cross(vertex(:, v), vertex(:, w)), vertex(:, x)) > 0)
          all(count)%corner(:, 1) = vertex(:, v)
          all(count)%corner(:, k) = vertex(:, w)
          all(count)%corner(:, 5 - k) = vertex(:, x)
        end do
      end do
    end do
    do f = 1, faces
      do k = 1, sides
        do g = 1, faces
          if (g /= f .and. corner_at(all(g), all(f)%corner(:, after(k))) > 0 .and. &
              corner_at(all(g), all(f)%corner(:, after(after(k)))) > 0) all(f)%neighbour(k) = g
        end do
      end do
    end do
  end subroutine make_icosahedron

  ! Triangle t becomes 4t - 3 to 4t: child k has corner k of it, the last one the middles of its sides.
  subroutine divide(from, t, to)
    type(triangle_t), intent(in) :: from(:)
    integer, intent(in) :: t
    type(triangle_t), intent(inout) :: to(:)
    integer :: first, k, j
    first = 4*(t - 1)
    do k = 1, sides
      to(first + 4)%corner(:, k) = middle(from(t)%corner(:, after(k)), from(t)%corner(:, after(after(k))))
      to(first + 4)%neighbour(k) = first + k
    end do
    do k = 1, sides
      do j = 1, sides
        if (j == k) then
          to(first + k)%corner(:, k) = from(t)%corner(:, k)
          to(first + k)%neighbour(k) = first + 4
        else
          ! The corner between k and j, which is opposite the third one; and the neighbour's child that has the same
          ! corner k.
          to(first + k)%corner(:, j) = to(first + 4)%corner(:, 6 - k - j)
          to(first + k)%neighbour(j) = 4*(from(t)%neighbour(j) - 1) &
                                       + corner_at(from(from(t)%neighbour(j)), from(t)%corner(:, k))
        end if
      end do
    end do
  end subroutine divide

  subroutine make_triangles(level, all)
    integer, intent(in) :: level
    type(triangle_t), allocatable, intent(out) :: all(:)
    type(triangle_t), allocatable :: finer(:)
    integer :: l, t
    allocate (all(faces))
    call make_icosahedron(all)
    do l = 1, level
      allocate (finer(4*size(all)))
      do t = 1, size(all)
        call divide(all, t, finer)
      end do
      call move_alloc(finer, all)
    end do
  end subroutine make_triangles

  ! --- recursive coordinate bisection

  ! owner(c) is the process that shall own cell c of the level.
  subroutine mesh_partition(comm, level, owner)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: level
    integer, allocatable, intent(out) :: owner(:)
    type(triangle_t), allocatable :: all(:)
    real(real64), allocatable :: centre(:, :)
    integer, allocatable :: cells(:)
    integer :: ranks, t
    call MPI_Comm_size(comm, ranks)
    call make_triangles(level, all)
    allocate (centre(3, size(all)), owner(size(all)))
    do t = 1, size(all)
      centre(:, t) = sum(all(t)%corner, 2)
    end do
    cells = [(t, t=1, size(all))]
    call bisect(centre, cells, 0, ranks, owner)
  end subroutine mesh_partition

  ! The cells go to the ranks from `first` on; each half gets cells in proportion to its ranks.
  recursive subroutine bisect(centre, cells, first, ranks, owner)
    real(real64), intent(in) :: centre(:, :)
    integer, intent(inout) :: cells(:)
    integer, intent(in) :: first, ranks
    integer, intent(inout) :: owner(:)
    integer :: left, d
    if (ranks == 1) then
      owner(cells) = first
      return
    end if
    d = maxloc(maxval(centre(:, cells), 2) - minval(centre(:, cells), 2), 1)
    call sort(centre(d, :), cells)
    left = size(cells)*(ranks/2)/ranks
    call bisect(centre, cells(:left), first, ranks/2, owner)
    call bisect(centre, cells(left + 1:), first + ranks/2, ranks - ranks/2, owner)
  end subroutine bisect

  ! Cells in the order of their keys, by merging.
  recursive subroutine sort(keys, cells)
    real(real64), intent(in) :: keys(:)
    integer, intent(inout) :: cells(:)
    integer :: sorted(size(cells)), half, i, j, n
    if (size(cells) < 2) return
    half = size(cells)/2
    call sort(keys, cells(:half))
    call sort(keys, cells(half + 1:))
    i = 1
    j = half + 1
    do n = 1, size(cells)
      if (j > size(cells)) then
        sorted(n:) = cells(i:half)
        exit
      else if (i > half) then
        sorted(n:) = cells(j:)
        exit
      else if (keys(cells(i)) <= keys(cells(j))) then
        sorted(n) = cells(i)
        i = i + 1
      else
        sorted(n) = cells(j)
        j = j + 1
      end if
    end do
    cells = sorted
  end subroutine sort

  ! --- this process's part

  ! The mesh of this level, whose cells go with those of the level `owner_level` that they are in.
  subroutine mesh_create(comm, level, owner_level, owner, m)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: level, owner_level, owner(:)
    type(mesh_t), intent(out) :: m
    type(triangle_t), allocatable :: all(:)
    m%comm = comm
    m%level = level
    call make_triangles(level, all)
    m%cells = size(all)
    call list_cells(m, all, 4**(level - owner_level), owner)
    call measure(m, all)
    call create_map(m)
  end subroutine mesh_create

  ! Own cells, then the neighbours that others own; neighbours by their places in this list.
  subroutine list_cells(m, all, children, owner)
    type(mesh_t), intent(inout) :: m
    type(triangle_t), intent(in) :: all(:)
    integer, intent(in) :: children, owner(:)
    integer :: place(size(all)), rank, c, i, k
    call MPI_Comm_rank(m%comm, rank)
    m%ids = pack([(c, c=1, size(all))], [(owner((c - 1)/children + 1) == rank, c=1, size(all))])
    m%owned = size(m%ids)
    place = 0
    place(m%ids) = [(i, i=1, m%owned)]
    allocate (m%neighbours(sides, m%owned))
    do i = 1, m%owned
      do k = 1, sides
        c = all(m%ids(i))%neighbour(k)
        if (place(c) == 0) then
          m%ids = [m%ids, c]
          place(c) = size(m%ids)
        end if
        m%neighbours(k, i) = place(c)
      end do
    end do
    m%count = size(m%ids)
  end subroutine list_cells

  ! A side goes from a to b, and b x a points outward and is as long as the side. The three add up to minus twice the
  ! area times the cell's normal: nothing along the cell, so that a fluid at rest stays so.
  subroutine measure(m, all)
    type(mesh_t), intent(inout) :: m
    type(triangle_t), intent(in) :: all(:)
    integer :: i, k
    allocate (m%corners(3, sides, m%owned), m%normals(3, sides, m%owned), m%up(3, m%owned), m%areas(m%owned))
    do i = 1, m%owned
      m%corners(:, :, i) = all(m%ids(i))%corner
      do k = 1, sides
        m%normals(:, k, i) = cross(m%corners(:, after(after(k)), i), m%corners(:, after(k), i))
      end do
      m%up(:, i) = -sum(m%normals(:, :, i), 2)
      m%areas(i) = norm2(m%up(:, i))/2
      m%up(:, i) = m%up(:, i)/norm2(m%up(:, i))
    end do
  end subroutine measure

  ! The lists as they are: cells become an index map, sides become edges.
  subroutine create_map(m)
    type(mesh_t), intent(inout) :: m
    integer, allocatable :: before(:), keys(:)
    type(tenon_layout) :: ghosted, dual
    integer :: i, k
    before = [((i, k=1, sides), i=1, m%owned)]
    keys = [((m%ids(i)*sides + k, k=1, sides), i=1, m%owned)] ! the same on any number of processes
    call tenon_index_map_create_from_ids(m%comm, m%owned, m%ids, m%map)
    call tenon_edges_create(m%map, m%map, before, reshape(m%neighbours, [sides*m%owned]), m%edges, keys)
    call tenon_index_map_get_layouts(m%map, [fields, 0], m%plain, ghosted)
    call tenon_layout_get_dual(ghosted, dual)
    call tenon_linearop_create_index_map(m%map, m%plain, TENON_FLOAT64, m%fill)
    call tenon_dtensor_create(m%plain, TENON_FLOAT64, m%inner)
    call tenon_dtensor_create(ghosted, TENON_FLOAT64, m%ghosted)
    call tenon_dtensor_create(dual, TENON_FLOAT64, m%contributions)
    call tenon_destroy(dual)
    call tenon_destroy(ghosted)
  end subroutine create_map

  subroutine mesh_destroy(m)
    type(mesh_t), intent(inout) :: m
    call tenon_destroy(m%contributions)
    call tenon_destroy(m%ghosted)
    call tenon_destroy(m%inner)
    call tenon_destroy(m%fill)
    call tenon_destroy(m%plain)
    call tenon_destroy(m%edges)
    call tenon_destroy(m%map)
  end subroutine mesh_destroy

  ! --- fields

  subroutine create_field(m, q)
    type(mesh_t), intent(in) :: m
    real(real64), allocatable, intent(out) :: q(:, :)
    allocate (q(fields, m%count), source=0.0_real64)
  end subroutine create_field

  ! Fields number 1 to `last`.
  subroutine create_fields(m, last, q)
    type(mesh_t), intent(in) :: m
    integer, intent(in) :: last
    real(real64), allocatable, intent(out) :: q(:, :, :)
    allocate (q(fields, m%count, last), source=0.0_real64)
  end subroutine create_fields

  ! Fills the ghosts.
  subroutine mesh_exchange(m, q)
    type(mesh_t), intent(inout) :: m
    real(real64), intent(inout), target :: q(:, :)
    call tenon_place(m%inner, q(:, :m%owned))
    call tenon_place(m%ghosted, q(:, :m%owned), array=q)
    call tenon_linearop_apply(m%fill, m%inner, m%ghosted)
  end subroutine mesh_exchange

  ! Its adjoint: adds what ghosts hold to the cells at their owners.
  subroutine mesh_exchange_adjoint(m, w)
    type(mesh_t), intent(inout) :: m
    real(real64), intent(inout), target :: w(:, :)
    call tenon_place(m%inner, w(:, :m%owned))
    call tenon_place(m%contributions, w(:, :m%owned), array=w)
    call tenon_linearop_apply_adjoint(m%fill, m%contributions, m%inner)
  end subroutine mesh_exchange_adjoint

  real(real64) function sum_of(m, mine)
    type(mesh_t), intent(in) :: m
    real(real64), intent(in) :: mine
    call MPI_Allreduce(mine, sum_of, 1, MPI_DOUBLE_PRECISION, MPI_SUM, m%comm)
  end function sum_of

  ! The sums over all cells of p q, and of area times the depth.
  real(real64) function mesh_dot(m, p, q)
    type(mesh_t), intent(in) :: m
    real(real64), intent(in) :: p(:, :), q(:, :)
    mesh_dot = sum_of(m, sum(p(:, :m%owned)*q(:, :m%owned)))
  end function mesh_dot

  real(real64) function mesh_mass(m, q)
    type(mesh_t), intent(in) :: m
    real(real64), intent(in) :: q(:, :)
    mesh_mass = sum_of(m, sum(m%areas*q(1, :m%owned)))
  end function mesh_mass
end module sphere_mesh
